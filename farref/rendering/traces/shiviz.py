"""A run for ShiViz (bestchai.bitbucket.io/shiviz): each event with the vector clock of its worker.

ShiViz reads a log with an expression. The one that reads these is its default: `(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from farref.rendering.traces.events import Event, one_line

EXPRESSION: Final = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"


def to_shiviz(events: Sequence[Event]) -> str:
    """Write events, two lines for each: what happened, then who and when."""
    clocks: dict[str, dict[str, int]] = {}
    stamps: list[dict[str, int]] = []
    lines: list[str] = []
    for event in events:
        host = _host(event.worker)
        known = clocks.setdefault(host, {})
        if event.sent_in is not None:
            known |= {name: max(known.get(name, 0), tick) for name, tick in stamps[event.sent_in].items()}
        known[host] = known.get(host, 0) + 1
        stamps.append(dict(known))
        lines += [one_line(event.text), f"{host} {json.dumps(known, sort_keys=True)}"]
    return "\n".join(lines) + "\n"


def _host(name: str) -> str:
    """A host has no blanks."""
    return "_".join(one_line(name).split()) or "nobody"
