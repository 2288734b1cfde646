"""What can be seen of a run from outside, in words that every implementation of the protocol shares (R8, R9).

An observation has, for each worker, the entries it owns, the forks it holds and the control messages it waits to have
answered, and, for the network, what is under way. RRefs and forks have neutral names: x0, x1, ... and f0, f1, ... in the
order of the model's numbers. Whoever observes another implementation keeps the list of which id is which.

Where an implementation counts, an observation says only used or unused. Where the network has two copies of one message, an
observation has one: a second copy of what is still in flight adds nothing in an unordered network
(`model/rref/network.py`). What an implementation has and the words here cannot say goes into `amiss`, which is empty as
long as all is well.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeVar

import msgspec

from farref.properties.twin.observation import flying_lines, said, unanswered_lines


class EntryView(msgspec.Struct, frozen=True, cache_hash=True):
    """One RRef at its owner."""

    rref: str
    value: str  # absent, expected, created, ready
    forks: tuple[tuple[str, str], ...]  # the forks counted, each with its holder
    running: bool  # the function that computes the value runs
    held: bool  # code on the owner holds the RRef
    waiting: bool  # code on the owner waits for the value
    fetches: tuple[str, ...]  # the forks whose fetch is parked


class UserView(msgspec.Struct, frozen=True, cache_hash=True):
    """One fork at its holder."""

    fork: str
    rref: str
    state: str  # pending, confirmed
    handle: str  # none, parked, held, timed out
    fetch: str  # none, waiting, abandoned
    children: tuple[tuple[str, str], ...]  # the children that have not accepted, each with its holder


class MessageView(msgspec.Struct, frozen=True, cache_hash=True):
    """A message, under way or unanswered."""

    kind: str
    fork: str
    source: str
    target: str

    @property
    def label(self) -> str:
        """The message."""
        return f"{self.kind}({self.fork})"


class WorkerView(msgspec.Struct, frozen=True):
    """Everything one worker has in its tables."""

    worker: str
    entries: tuple[EntryView, ...] = ()
    dropped: tuple[str, ...] = ()  # the RRefs it owned, whose value has been dropped
    users: tuple[UserView, ...] = ()
    unanswered: tuple[MessageView, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Say whether every table is empty (R32)."""
        return not (self.entries or self.users or self.unanswered)


class Observation(msgspec.Struct, frozen=True):
    """Everything there is to see after a step."""

    workers: tuple[WorkerView, ...]
    flying: tuple[MessageView, ...]
    closing: bool
    amiss: tuple[str, ...] = ()  # what should not be, in words of its own

    @property
    def is_empty(self) -> bool:
        """Say whether nothing is left: no table has an entry, and nothing is under way."""
        return not (self.flying or self.amiss) and all(worker.is_empty for worker in self.workers)


# -- their order -------------------------------------------------------------------------------------------------------

Seen = TypeVar("Seen", str, tuple[str, str], EntryView, UserView, MessageView)
UNNUMBERED: Final = 1 << 31


def in_order(found: Iterable[Seen]) -> tuple[Seen, ...]:
    """Put what was seen in the one order that all observations have: by number, so that f9 comes before f10."""
    listed = tuple(found)
    return listed if len(listed) < 2 else tuple(sorted(listed, key=_place))


@lru_cache(maxsize=65536)
def _place(seen: str | tuple[str, str] | EntryView | UserView | MessageView) -> tuple[str | tuple[int, str], ...]:
    match seen:
        case str():
            return (_number(seen),)
        case MessageView(kind, fork, source, target):
            return kind, _number(fork), source, target
        case EntryView(rref):
            return (_number(rref),)
        case UserView(fork):
            return (_number(fork),)
        case (fork, holder):
            return _number(fork), holder


@lru_cache(maxsize=4096)
def _number(name: str) -> tuple[int, str]:
    """Give the number in a neutral name; names that nobody gave come after all that have one."""
    return (int(name[1:]), "") if name[1:].isdecimal() else (UNNUMBERED, name)


# -- in lines ----------------------------------------------------------------------------------------------------------


def lines(observation: Observation) -> list[str]:
    """Write an observation as lines, one for each fact, so that two can be compared line by line."""
    told = ["shutting down"] if observation.closing else []
    for worker in observation.workers:
        told += [f"{worker.worker} owns {entry.rref}: {said(entry, 'rref')}" for entry in worker.entries]
        told += [f"{worker.worker} has dropped the value of {rref}" for rref in worker.dropped]
        told += [f"{worker.worker} holds {user.fork}: {said(user, 'fork')}" for user in worker.users]
        told += unanswered_lines(worker.unanswered)
    told += [f"amiss: {complaint}" for complaint in observation.amiss]
    return told + flying_lines(observation.flying)
