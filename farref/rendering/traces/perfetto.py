"""A run for Perfetto (ui.perfetto.dev), in Chrome's trace format: a track for each worker, an arrow for each message.

An event lasts until the next one on its worker, and at most `LONGEST_US`, so slices never overlap. An arrow begins in the
slice of the event that sent the message, and ends in that of the event that received it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from farref.rendering.traces.events import Event

LONGEST_US, SHORTEST_US = 500.0, 0.001
PROCESS: Final = 1


def to_perfetto(events: Sequence[Event]) -> str:
    """Write events as one JSON object."""
    tracks = {name: number for number, name in enumerate(dict.fromkeys(event.worker for event in events), start=1)}
    begins = _begins(events)
    lengths = _lengths(events, begins)
    shown = [_name(name, track) for name, track in tracks.items()]
    for place, event in enumerate(events):
        track = tracks[event.worker]
        shown.append(_slice(event, begins[place], lengths[place], track))
        if event.sent_in is not None:
            sender = tracks[events[event.sent_in].worker]
            shown += _arrow(event, place, (begins[event.sent_in], sender), (begins[place], track))
    return json.dumps({"traceEvents": shown, "displayTimeUnit": "ms"}, indent=1) + "\n"


def _begins(events: Sequence[Event]) -> list[float]:
    """Say when each event begins: as its clock says, and after what was before it on its worker."""
    last: dict[str, float] = {}
    begins: list[float] = []
    for event in events:
        at = max(event.at_us, last.get(event.worker, 0.0))
        last[event.worker] = round(at + SHORTEST_US, 3)
        begins.append(round(at, 3))
    return begins


def _lengths(events: Sequence[Event], begins: list[float]) -> list[float]:
    """Say how long each event lasts: until the next one on its worker, and not too long."""
    following: dict[str, float] = {}
    lengths: list[float] = []
    for event, begin in zip(reversed(events), reversed(begins), strict=True):
        lengths.append(round(min(following.get(event.worker, begin + LONGEST_US) - begin, LONGEST_US), 3))
        following[event.worker] = begin
    return lengths[::-1]


def _name(name: str, track: int) -> dict[str, Any]:
    return {"ph": "M", "name": "thread_name", "pid": PROCESS, "tid": track, "args": {"name": name}}


def _slice(event: Event, begin: float, length: float, track: int) -> dict[str, Any]:
    name = event.message or event.text.partition("; ")[0]
    place = {"pid": PROCESS, "tid": track, "ts": begin, "dur": length}
    return {"ph": "X", "cat": "step", "name": name, **place, "args": {"text": event.text}}


def _arrow(event: Event, number: int, start: tuple[float, int], end: tuple[float, int]) -> Iterator[dict[str, Any]]:
    said = {"cat": "message", "name": event.message, "id": number, "pid": PROCESS}
    yield {"ph": "s", **said, "ts": start[0], "tid": start[1]}
    yield {"ph": "f", "bp": "e", **said, "ts": end[0], "tid": end[1]}
