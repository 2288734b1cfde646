"""The logs of real processes as a walk: one run, event by event, with what was under way and what the model says of it.

A log says what happened and not what the tables were, so a worker shows how many events it has had, and the last of them. The
event that no behaviour of the model has, if there is one, is marked as broken.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from farref.exploring.shape import (
    FORMAT,
    Document,
    Found,
    Lane,
    Message,
    Move,
    Node,
    Row,
    Sentence,
    Table,
    Turn,
    Walked,
    Worker,
)
from farref.properties.logs.format import Log
from farref.properties.logs.validate import LogFinding
from farref.rendering.traces.events import Event, of_log
from farref.rendering.validated import told
from farref.words import counted, visible

EVENTS_MAX: Final = 2000
LANES_MAX: Final = 24
EXPLAINED: Final = Sentence("log", "spec/log.md", "always", "A behaviour of the model has all of these events.", {})


@dataclass(frozen=True)
class LoggedWorld:
    """One run that has happened: everything is in its document, and there is nothing to ask."""

    document: Document

    def walk(self, moves: tuple[Move, ...], begin: int) -> Walked:
        """Give the nodes of the run."""
        return Walked(tuple(self.document.nodes.values())[begin : len(moves) + 1])

    def search(self, moves: tuple[Move, ...], sentence: str) -> Found:
        """Find nothing: the page has it all."""
        del moves, sentence
        return Found(None, "beyond this run")


def logged_document(log: Log, finding: LogFinding | None) -> Document:
    """Tell of a run that was logged."""
    everything = of_log(log)
    events = [replace(one, worker=_clean(one.worker), text=_clean(one.text)) for one in everything[:EVENTS_MAX]]
    labels = tuple(f"{number} {event.text}" for number, event in enumerate(events, start=1))
    wrong = None if finding is None or finding.event is None else _clean(told(log, finding.event))
    nodes = {node.id: node for node in _nodes(events, labels, wrong)}
    cut = (
        [f"Only the first {EVENTS_MAX:,} of {len(everything):,} events are shown."]
        if len(everything) > EVENTS_MAX
        else []
    )
    verdict = "accepts this run" if finding is None else f"finds: {_clean(finding.reason)}"
    return Document(
        format=FORMAT,
        subject="rref",
        world=hashlib.sha256("\n".join(labels).encode()).hexdigest()[:12],
        title=f"A run of {counted(len(log.names), 'worker')} as logged, {counted(len(everything), 'event')}",
        notes=(f"farref replay --validate {verdict}.".replace("..", "."), *cut),
        lanes=tuple(Lane(_clean(name), "" if rank in log.workers else "no log") for rank, name in enumerate(log.names))[
            :LANES_MAX
        ],
        rules=(),
        sentences=(EXPLAINED,),
        first="0",
        run=labels,
        nodes=nodes,
        is_part=True,
    )


def _clean(text: str) -> str:
    return " ".join(visible(text).split())


def _nodes(events: Sequence[Event], labels: Sequence[Move], wrong: str | None) -> Iterator[Node]:
    """Show what is known after each event, and before the first."""
    flying: dict[int, Message] = {}  # by the place of the event that receives it
    seen: dict[str, Worker] = {}
    counts: Counter[str] = Counter()
    carried = _carried(events)
    broken: dict[str, tuple[str, ...]] = {}
    for place in range(len(events) + 1):
        turns = tuple(_turn(event, labels[place], place, flying.get(place)) for event in events[place : place + 1])
        yield Node(str(place), (), tuple(seen.values()), (), tuple(flying.values()), broken, (), turns, {})
        for event in events[place : place + 1]:
            counts[event.worker] += 1
            seen[event.worker] = Worker(event.worker, (_table(counts[event.worker], event),))
            flying.pop(place, None)
            flying |= carried.get(place, {})
            broken = {"log": (f"explained: {wrong}",)} if event.text == wrong else {}


def _carried(events: Sequence[Event]) -> dict[int, dict[int, Message]]:
    """Give by the place of the sender's event the messages sent there, each by the place of the event that receives it."""
    found: dict[int, dict[int, Message]] = {}
    for place, event in enumerate(events):
        if event.sent_in is not None:
            message = Message(f"{event.message} to {place + 1}", events[event.sent_in].worker, event.worker)
            found.setdefault(event.sent_in, {})[place] = message
    return found


def _table(count: int, event: Event) -> Table:
    return Table("Its log", ("", ""), (Row("events", ("events", str(count))), Row("last", ("last", event.text))))


def _turn(event: Event, label: Move, place: int, message: Message | None) -> Turn:
    return Turn(label, event.worker, event.text, str(place + 1), message, "delivered" if message else None)
