"""A log, taken apart by RRef: what each worker has to say about one RRef, and what follows from all of it together.

RRefs are independent of each other, so each is explained on its own, in a world as small as it. Where an implementation counts
and the model has a flag, the events are thinned out here: of several fetches of one fork that overlap, the first one's call and
the last one's answer are kept (R9).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from farref.model.messages import kind_of
from farref.model.rref.addressing import Role, roles
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import KINDS_COUNT, Call, CallFailed, RemoteCall, RemoteFailed, message_of
from farref.properties.logs.format import Event, Log

SUPPOSED = "supposed fork"


def _roles_in_log(kind: int) -> tuple[Role, Role]:
    """Say whom a log names as the ends of a message. A failure is reported by the worker that could not take the message."""
    match message_of(kind, RRefId(0), ForkId(0)):
        case CallFailed(rref, fork):
            source, target = roles(Call(rref, fork))
            return target, source
        case RemoteFailed(rref, fork):
            source, target = roles(RemoteCall(rref, fork))
            return target, source
        case message:
            return roles(message)


ROLES: Final = {kind_of(message_of(kind, RRefId(0), ForkId(0))): _roles_in_log(kind) for kind in range(KINDS_COUNT)}
"""By label of a message: which role it comes from, and which it goes to."""


def _from(role: Role) -> frozenset[str]:
    return frozenset(label for label, (source, _) in ROLES.items() if source is role)


def _to(role: Role) -> frozenset[str]:
    return frozenset(label for label, (_, target) in ROLES.items() if target is role)


FROM_OWNER, TO_OWNER, FROM_HOLDER, TO_HOLDER = _from(Role.OWNER), _to(Role.OWNER), _from(Role.HOLDER), _to(Role.HOLDER)


@dataclass
class ForkFacts:
    """What a log says about a fork, wherever it says it."""

    minter: int | None  # none: somebody whose log does not tell
    holder: int | None = None
    parent: str | None = None
    is_creators: bool = False
    is_told: bool = False  # somebody says from what it was made
    is_lost: bool = False  # the message that should have brought it, or created it, failed
    carrier: str | None = None  # the message that brought it: Call or Return


@dataclass
class WorkerEvents:
    """The events of one worker about one RRef, and where more may have happened than is written."""

    events: list[Event] = field(default_factory=list)
    loose: set[int] = field(default_factory=set)  # positions before which something may be missing
    _ahead: dict[int, frozenset[tuple[str, str | None]]] = field(default_factory=dict)

    def ahead(self, position: int) -> frozenset[tuple[str, str | None]]:
        """Say what the log still tells from a position on: each event or message, and its fork."""
        if position not in self._ahead:
            rest = self.events[position:]
            self._ahead[position] = frozenset((event.message or event.event, event.fork) for event in rest)
        return self._ahead[position]


@dataclass
class RRefLog:
    """Everything a log says about one RRef."""

    rref: str
    by_worker: dict[int, WorkerEvents]
    told: list[Event]  # all events of all workers: those first that know best
    forks: dict[str, ForkFacts] = field(default_factory=dict)
    owner: int | None = None

    @property
    def creator(self) -> int:
        """The worker that minted the RRef."""
        return minter(self.rref)


def minter(written: str) -> int:
    """Say which worker minted an id."""
    return int(written.partition(".")[0])


def take_apart(log: Log) -> dict[str, RRefLog]:
    """Sort all events by the RRef they are about."""
    events: dict[str, dict[int, list[Event]]] = defaultdict(lambda: defaultdict(list))
    for rank, worker in log.workers.items():
        until = worker.judged_until
        for event in worker.events:
            if event.rref is not None and event.number <= until:
                events[event.rref][rank].append(event)
    gaps = {rank: _gaps(log, rank) for rank in range(len(log.names))}
    return {rref: _rref_log(rref, found, gaps) for rref, found in events.items()}


def _gaps(log: Log, rank: int) -> list[int]:
    """List the numbers behind which events of a worker may be missing."""
    worker = log.workers.get(rank)
    if worker is None:
        return [0]
    numbers = [0, *(event.number for event in worker.events)]
    gaps: list[int] = [before for before, after in pairwise(numbers) if after != before + 1]
    until = worker.judged_until
    if until != numbers[-1] or not worker.is_ended:
        gaps.append(until)
    return gaps


def _rref_log(rref: str, found: dict[int, list[Event]], gaps: dict[int, list[int]]) -> RRefLog:
    told = sorted((event for events in found.values() for event in events), key=authority)
    rref_log = RRefLog(rref, {rank: WorkerEvents(found.get(rank, [])) for rank in gaps}, told)
    for event in told:
        _learn(rref_log, event)
    for event in told:
        _learn_of_parent(rref_log, event)
    if rref_log.owner not in (None, rref_log.creator) and not any(
        facts.is_creators for facts in rref_log.forks.values()
    ):
        rref_log.forks[rref] = ForkFacts(
            rref_log.creator, rref_log.creator, is_creators=True
        )  # its creation is not in the log
    _suppose(rref_log, [rank for rank in gaps if gaps[rank]])
    overlapping = _overlapping_fetches(found.values())
    for rank, worker in rref_log.by_worker.items():
        worker.events = [event for event in worker.events if _fetch_key(event) not in overlapping]
        for gap in gaps[rank]:
            worker.loose.add(sum(event.number <= gap for event in worker.events))
    return rref_log


def authority(event: Event) -> tuple[int, float, int]:
    """Order events by how well they know what they are about: who makes it, who is given it, who has to do with it."""
    if event.event.startswith("create"):
        return 0, event.time, event.number
    return (1 if event.event == "share" else 2 if names_parent(event) else 3), event.time, event.number


def names_parent(event: Event) -> bool:
    """Say whether an event tells from what a fork was made; without a parent it is the owner's."""
    return event.event in ("share", "refuse") or (event.event == "receive" and event.message in ("Call", "Return"))


def _learn(rref_log: RRefLog, event: Event) -> None:
    """Note what an event says about the RRef and its forks, unless one that knows better has said it."""
    rref_log.owner = owner_of(event) if rref_log.owner is None else rref_log.owner
    if event.fork is None:
        return
    facts = rref_log.forks.setdefault(event.fork, ForkFacts(minter(event.fork)))
    facts.holder = holder_of(event) if facts.holder is None else facts.holder
    if event.event == "create remote" or event.message in ("RemoteCall", "UserAccept"):
        facts.is_creators = True
    if names_parent(event) and not facts.is_told:
        facts.parent, facts.is_told = event.parent, True
    if event.event in ("withdraw", "refuse") or event.message in ("CallFailed", "CreateFailed"):
        facts.is_lost = True
    if (event.event, event.message) == ("fail", "RemoteCall"):
        facts.is_lost = True
    if event.message in ("Call", "Return"):
        facts.carrier = event.message


def _learn_of_parent(rref_log: RRefLog, event: Event) -> None:
    """Note what follows from a child: whoever made it holds its parent (R2)."""
    if event.parent is None or event.fork is None:
        return
    is_creators, sharer = event.parent == rref_log.rref, minter(event.fork)
    facts = rref_log.forks.setdefault(event.parent, ForkFacts(minter(event.parent), is_creators=is_creators))
    facts.holder = sharer if facts.holder is None else facts.holder


def _suppose(rref_log: RRefLog, silent: list[int]) -> None:
    """Suppose a fork for each worker that shared what nobody says how it got, if its log may leave that out."""
    for facts in list(rref_log.forks.values()):
        rank = facts.minter
        if rank in silent and not facts.is_creators and facts.parent is None:
            rref_log.forks[f"{SUPPOSED} of {rank}"] = ForkFacts(None, rank)


def owner_of(event: Event) -> int | None:
    """Say who owns the RRef that an event is about, where that can be seen."""
    if event.owner is not None:
        return event.owner
    if event.event in ("create local", "create on self", "finish", "drop") or event.message in TO_OWNER:
        return event.to if event.event == "fail" else event.worker
    if event.event == "let go" and event.fork is None:
        return event.worker
    return event.to if event.event == "create remote" else (event.source if event.message in FROM_OWNER else None)


def holder_of(event: Event) -> int | None:
    """Say who holds the fork that an event is about, or is meant to, where that can be seen."""
    if event.event in ("create remote", "fetch", "let go", "fail", "refuse"):
        return event.worker
    if event.event != "receive":
        return event.to if event.event == "share" else None
    if event.message in FROM_HOLDER:
        return event.source
    return event.worker if event.message in TO_HOLDER else None


FetchKey = tuple[str, str | None, int | None]


def _fetch_key(event: Event) -> FetchKey:
    return event.message or event.event, event.fork, event.fetch


def _overlapping_fetches(found: Iterable[list[Event]]) -> set[FetchKey]:
    """List the events of fetches that the model does not have: it has one fetch of a fork at a time.

    One that is asked for by an application that has let go is not among them: it is no fetch that can be.
    """
    spare: set[FetchKey] = set()
    under_way: dict[str | None, set[int]] = defaultdict(set)
    free: set[str | None] = set()
    for event in (event for events in found for event in events):
        asked, fork, fetch = under_way[event.fork], event.fork, event.fetch or 0
        if event.event == "let go":
            free.add(fork)
        elif event.event == "fetch":
            if asked and fork not in free:
                spare |= {("fetch", fork, fetch), ("FetchCall", fork, fetch)}
            asked.add(fetch)
        elif event.message == "FetchReturn":
            asked.discard(fetch)
            if asked:
                spare.add(("FetchReturn", fork, fetch))
    return spare
