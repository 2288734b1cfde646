"""What happened on which worker, and which message led from where to where: of a trace, or of the logs of real processes.

A log says what a worker received, and not all that it sent. What a message was sent by follows from its kind and its fork:
`CAUSES` says it, and a message whose cause is not logged comes from nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from farref.properties.logs.format import Event as LogEvent
from farref.properties.logs.format import Log
from farref.properties.traces.file import Trace
from farref.rendering.validated import told
from farref.words import visible

Sending = int
"""The place of the event that a message was sent in."""

STEP_US: Final = 1000.0
"""How long a step of a trace takes: there is no clock in a model, and a drawing needs one."""


@dataclass(frozen=True)
class Event:
    """Something on one worker: when, and where the message comes from that it received, if it received one."""

    worker: str
    text: str
    at_us: float
    message: str = ""
    sent_in: Sending | None = None


def of_trace(trace: Trace) -> list[Event]:
    """List the steps of a trace."""
    sent: dict[str, Sending] = {}
    events: list[Event] = []
    for place, step in enumerate(trace.steps):
        label = "" if step.message is None else step.message.label
        events.append(Event(step.worker, step.text, place * STEP_US, label, sent.get(label)))
        sent |= {message.label: place for message in step.sent}
    return events


# -- logs --------------------------------------------------------------------------------------------------------------

CAUSES: Final[dict[str, tuple[str, ...]]] = {
    "RemoteCall": ("create remote",),
    "UserAccept": ("RemoteCall",),
    "RemoteFailed": ("fail",),
    "Call": ("share",),
    "Return": ("share",),
    "CallFailed": ("fail", "refuse"),
    "FetchCall": ("fetch",),
    "FetchReturn": ("FetchCall",),
    "ForkRequest": ("Call", "Return"),
    "ChildAccept": ("Ack(ForkRequest)", "Call", "Return"),
    "UserDelete": ("let go",),
    "CreateFailed": ("fail",),
}
"""By the kind of a message: what its sender did, or received, about the same fork when it sent it."""


def of_log(log: Log) -> list[Event]:
    """List the events of all workers, each after those that it followed from."""
    done: dict[tuple[int, str, str], Sending] = {}
    begin = min((one.time for worker in log.workers.values() for one in worker.events), default=0.0)
    events: list[Event] = []
    for one in _in_order(log):
        sent_in = _sent_in(one, done)
        about = one.message or ""
        events.append(Event(log.names[one.worker], told(log, one), (one.time - begin) * 1e6, about, sent_in))
        done[one.worker, one.message or one.event, one.fork or one.rref or ""] = len(events) - 1
    return events


def _causes(event: LogEvent) -> tuple[str, ...]:
    message = event.message or ""
    return (message[4:-1],) if message.startswith("Ack(") else CAUSES.get(message, ())


def _sent_in(event: LogEvent, done: dict[tuple[int, str, str], Sending]) -> Sending | None:
    if event.event != "receive" or event.source is None:
        return None
    known = (done.get((event.source, cause, event.fork or "")) for cause in _causes(event))
    return next((place for place in known if place is not None), None)


def _in_order(log: Log) -> Iterator[LogEvent]:
    """Merge the logs: a worker's own order is kept, what was received comes after what sent it, and clocks decide the rest."""
    logged = {(e.worker, e.message or e.event, e.fork or "") for one in log.workers.values() for e in one.events}
    waiting = {rank: list(reversed(one.events)) for rank, one in log.workers.items() if one.events}
    done: set[tuple[int, str, str]] = set()

    def is_early(event: LogEvent) -> bool:
        if event.event != "receive" or event.source is None:
            return False
        causes = {(event.source, cause, event.fork or "") for cause in _causes(event)} & logged
        return bool(causes) and not causes & done

    while waiting:
        heads = [events[-1] for events in waiting.values()]
        event = min(heads, key=lambda one: (is_early(one), one.time, one.worker))
        waiting[event.worker].pop()
        if not waiting[event.worker]:
            del waiting[event.worker]
        done.add((event.worker, event.message or event.event, event.fork or ""))
        yield event


def one_line(text: str) -> str:
    """Give a text without line ends, and without what a terminal would obey."""
    return " ".join(visible(text).split())
