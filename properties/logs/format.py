"""Logs of real runs: what each worker did and received, in its own order (`spec/log.md`).

A log is JSON lines. For each worker it has a header, then the worker's events, numbered from 1. The lines of several workers
may stand in files of their own or be mixed in one. Nothing says how the events of two workers interleave: to find that out
is what validating is (`validation.py`).

A log may be partial. A worker may have no log; a log may stop before its `end`; and a log that does not call itself complete
may leave numbers out. Then more may have happened there than is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

FORMAT: Final = "farref-log/1"
SUBJECT: Final = "rref"
WORKERS_MAX: Final = 1024

EventName = Literal[
    "create local",
    "create on self",
    "create remote",
    "finish",
    "share",
    "withdraw",
    "refuse",
    "fail",
    "receive",
    "fetch",
    "let go",
    "drop",
    "shut down",
    "died",
    "end",
]

BEGINNINGS: Final = frozenset({"create local", "create on self", "create remote", "share", "fetch"})
"""What nobody may begin once shutdown has begun (R32)."""


class LogError(Exception):
    """Something is no log; the message says what is wrong with it."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose log it is, among whom."""

    format: str
    subject: str
    worker: int
    workers: tuple[str, ...]
    complete: bool = True  # every event is written, up to the last one


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One event on one worker. What a field means depends on the event."""

    worker: int
    number: int
    event: EventName
    time: float = 0.0
    rref: str | None = None
    fork: str | None = None
    message: str | None = None
    source: int | None = None  # who sent the message
    to: int | None = None  # who is meant
    owner: int | None = None
    parent: str | None = None  # the fork that a fork was made from; none if the owner made it
    fetch: int | None = None
    effect: bool = True  # a control message took effect: it was no copy
    entries: int = 0  # left at the end: entries of RRefs that the worker owns
    users: int = 0  # forks that it holds
    unanswered: int = 0  # control messages that it waits to have answered
    peer: int | None = None  # who died


@dataclass
class WorkerLog:
    """The events of one worker."""

    header: Header
    events: list[Event] = field(default_factory=list)

    @property
    def is_ended(self) -> bool:
        """Say whether nothing happened after the last event."""
        return bool(self.events) and self.events[-1].event == "end"

    @property
    def judged_until(self) -> int:
        """The number of the last event that is judged: what follows the death of a peer is not (R34).

        Once nothing is left, peers hang up, one earlier than the other. That changes nothing any more.
        """
        last = self.events[-1].number if self.events else 0
        died = next((event.number for event in self.events if event.event == "died"), None)
        if died is None or (self.is_ended and self._is_quiet_after(died)):
            return last
        return died

    def _is_quiet_after(self, number: int) -> bool:
        end = self.events[-1]
        quiet = not any(event.rref for event in self.events if event.number > number)
        return quiet and not (end.entries or end.users or end.unanswered)

    def gap(self) -> Event | None:
        """Find the first event before which a number is missing."""
        expected = enumerate(self.events, start=1)
        return next((event for number, event in expected if event.number != number), None)


@dataclass
class Log:
    """The logs of the workers of one world."""

    names: tuple[str, ...]
    workers: dict[int, WorkerLog]

    @property
    def events(self) -> int:
        """Count the events."""
        return sum(len(worker.events) for worker in self.workers.values())

    @property
    def unlogged(self) -> list[str]:
        """Name the workers that have no log."""
        return [name for rank, name in enumerate(self.names) if rank not in self.workers]


def read_logs(contents: Iterable[tuple[str, bytes]]) -> Log:
    """Read the logs of a world; each file comes with its name."""
    log = Log((), {})
    for name, content in contents:
        for number, line in _lines(content):
            try:
                _enter(log, line)
            except (LogError, msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise LogError(f"{name}, line {number}: {error}") from error
    if not log.workers:
        raise LogError("there is no event in it, and not even a header")
    return log


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file with their numbers. A last line that was cut short is left out: its writer was too."""
    whole, _, cut = content.rpartition(b"\n")
    lines = (whole if not _is_whole(cut) else content).split(b"\n")
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


_event: Final[msgspec.json.Decoder[Event]] = msgspec.json.Decoder(Event)
_header: Final[msgspec.json.Decoder[Header]] = msgspec.json.Decoder(Header)


def _enter(log: Log, line: bytes) -> None:
    if line.lstrip().startswith(b'{"format"'):
        _enter_header(log, _header.decode(line))
        return
    event = _event.decode(line)
    worker = log.workers.get(event.worker)
    if worker is None:
        raise LogError(f"worker {event.worker} has no header before its first event")
    if worker.events and event.number <= worker.events[-1].number:
        raise LogError(f"event {event.number} of worker {event.worker} stands behind event {worker.events[-1].number}")
    _refuse_nonsense(log, event)
    worker.events.append(event)


def _enter_header(log: Log, header: Header) -> None:
    if header.format != FORMAT or header.subject != SUBJECT:
        raise LogError(f"its format is {header.format!r} of {header.subject!r}; known is {FORMAT!r} of {SUBJECT!r}")
    if not 0 < len(header.workers) <= WORKERS_MAX or not 0 <= header.worker < len(header.workers):
        raise LogError(f"worker {header.worker} is not one of {len(header.workers)}")
    if log.names and log.names != header.workers:
        raise LogError(f"its workers are {', '.join(header.workers)}; elsewhere they are {', '.join(log.names)}")
    if header.worker in log.workers:
        raise LogError(f"there are two logs of worker {header.worker}")
    log.names = header.workers
    log.workers[header.worker] = WorkerLog(header)


NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "create local": ("rref",),
    "create on self": ("rref",),
    "create remote": ("rref", "fork", "to"),
    "finish": ("rref",),
    "share": ("rref", "fork", "to", "owner"),
    "withdraw": ("rref", "fork"),
    "refuse": ("rref", "fork", "source", "owner"),
    "fail": ("rref", "fork", "message", "to"),
    "receive": ("rref", "fork", "message", "source"),
    "fetch": ("rref", "fork", "fetch"),
    "let go": ("rref",),
    "drop": ("rref",),
    "died": ("peer",),
}
"""The fields that an event must have."""


def _refuse_nonsense(log: Log, event: Event) -> None:
    for name in NEEDED.get(event.event, ()):
        if getattr(event, name) is None:
            raise LogError(f"an event {event.event!r} needs {name!r}")
    if event.rref is not None and "rref" not in NEEDED.get(event.event, ()):
        raise LogError(f"an event {event.event!r} is about no RRef")
    for name in ("source", "to", "owner", "peer"):
        rank: Any = getattr(event, name)
        if rank is not None and not 0 <= rank < len(log.names):
            raise LogError(f"{name} is worker {rank}, and there are {len(log.names)}")
    for name in ("rref", "fork", "parent"):
        written: Any = getattr(event, name)
        if written is not None and not _is_minted(written, len(log.names)):
            raise LogError(f"{name} is {written!r}; an id begins with the rank of the worker that minted it, and a dot")


def _is_minted(written: str, workers: int) -> bool:
    rank, dot, _ = written.partition(".")
    return bool(dot) and rank.isascii() and rank.isdigit() and len(rank) < 5 and int(rank) < workers
