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

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from farref.model.ids import WorkerId
from farref.model.rref.addressing import ends
from farref.model.rref.ids import ForkId, worker_name
from farref.model.rref.messages import kind_of, message_of
from farref.model.rref.owner import Entry, OwnerRRef, is_listed
from farref.model.rref.user import Fetch, Handle, User, UserRRef
from farref.model.rref.world import Bounds, World
from farref.model.values import IdSet
from farref.properties.traces.replay import NETWORK

VALUES: Final = ("absent", "expected", "created", "ready", "absent")
"""What is told of an entry's value, by the model's phase. To the owner GONE is ABSENT (R8)."""

STATES: Final = ("absent", "pending", "confirmed", "untold")
HANDLES: Final = ("none", "parked", "held", "timed out")
FETCHES: Final = ("none", "waiting", "abandoned")


class EntryView(msgspec.Struct, frozen=True, order=True):
    """One RRef at its owner."""

    rref: str
    value: str  # absent, expected, created, ready
    forks: tuple[tuple[str, str], ...]  # the forks counted, each with its holder
    running: bool  # the function that computes the value runs
    held: bool  # code on the owner holds the RRef
    waiting: bool  # code on the owner waits for the value
    fetches: tuple[str, ...]  # the forks whose fetch is parked


class UserView(msgspec.Struct, frozen=True, order=True):
    """One fork at its holder."""

    fork: str
    rref: str
    state: str  # pending, confirmed
    handle: str  # none, parked, held, timed out
    fetch: str  # none, waiting, abandoned
    children: tuple[tuple[str, str], ...]  # the children that have not accepted, each with its holder


class MessageView(msgspec.Struct, frozen=True, order=True):
    """A message, under way or unanswered."""

    kind: str
    fork: str
    source: str
    target: str


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


# -- the model ---------------------------------------------------------------------------------------------------------


class ModelObserver:
    """Looks at the worlds of one run.

    Most of a world is as it was a step ago. Who holds a fork is written into it once, as it is minted, so within one run a
    view follows from its record alone, and is made once.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._entries: dict[tuple[int, OwnerRRef], EntryView] = {}
        self._users: dict[tuple[int, UserRRef], UserView] = {}
        self._messages: dict[tuple[int, int], MessageView] = {}

    def observe(self, world: World) -> Observation:
        """Look at a world."""
        unanswered = self._views(world, world.network.unanswered)
        users = [user for user in enumerate(world.users) if user[1].phase is not User.ABSENT]
        return Observation(
            workers=tuple(self._worker(world, worker, users, unanswered) for worker in range(self.bounds.workers)),
            flying=tuple(sorted(self._views(world, world.network.flying))),
            closing=world.closing,
        )

    def _worker(
        self, world: World, worker: int, users: list[tuple[int, UserRRef]], unanswered: list[MessageView]
    ) -> WorkerView:
        owned = [(rref, world.owners[rref]) for rref in range(worker, self.bounds.rrefs, self.bounds.workers)]
        name = worker_name(WorkerId(worker))
        return WorkerView(
            worker=name,
            entries=tuple([self._entry(world, *one) for one in owned if _is_seen(one[1])]),
            dropped=tuple([f"x{rref}" for rref, owner in owned if owner.phase is Entry.GONE]),
            users=tuple([self._user(world, *one) for one in users if world.lineage[one[0]].holder == worker]),
            unanswered=tuple(sorted([one for one in unanswered if one.source == name])),
        )

    def _entry(self, world: World, rref: int, owner: OwnerRRef) -> EntryView:
        view = self._entries.get((rref, owner))
        if view is None:
            view = self._entries[rref, owner] = _entry(world, rref, owner)
        return view

    def _user(self, world: World, fork: int, user: UserRRef) -> UserView:
        view = self._users.get((fork, user))
        if view is None:
            view = self._users[fork, user] = _user(world, self.bounds, ForkId(fork), user)
        return view

    def _views(self, world: World, table: Iterable[IdSet]) -> list[MessageView]:
        """See the messages of a table: by kind, for which forks there is one."""
        return [
            self._messages.get((kind, fork)) or self._message(world, kind, fork)
            for kind, forks in enumerate(table)
            if any(forks)
            for fork in forks.members()
        ]

    def _message(self, world: World, kind: int, fork: int) -> MessageView:
        message = message_of(kind, self.bounds.rref_of(ForkId(fork)), ForkId(fork))
        source, target = ends(world, message, self.bounds)
        sender = NETWORK if source is None else worker_name(source)
        view = self._messages[kind, fork] = MessageView(kind_of(message), f"f{fork}", sender, worker_name(target))
        return view


def _is_seen(owner: OwnerRRef) -> bool:
    return is_listed(owner) or not owner.forks.is_empty() or not owner.fetches.is_empty()


def _entry(world: World, rref: int, owner: OwnerRRef) -> EntryView:
    return EntryView(
        rref=f"x{rref}",
        value=VALUES[owner.phase],
        forks=_with_holders(world, owner.forks.members()),
        running=owner.running,
        held=owner.held,
        waiting=owner.waiting,
        fetches=tuple(sorted(f"f{fork}" for fork in owner.fetches.members())),
    )


def _user(world: World, bounds: Bounds, fork: ForkId, user: UserRRef) -> UserView:
    return UserView(
        fork=f"f{fork}",
        rref=f"x{bounds.rref_of(fork)}",
        state=STATES[user.phase],
        handle=HANDLES[Handle(user.handle)],
        fetch=FETCHES[Fetch(user.fetch)],
        children=_with_holders(world, user.children.members()),
    )


def _with_holders(world: World, forks: Iterator[int]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((f"f{fork}", _holder(world, fork)) for fork in forks))


def _holder(world: World, fork: int) -> str:
    holder = world.lineage[fork].holder
    return "nobody" if holder is None else worker_name(holder)


# -- differences -------------------------------------------------------------------------------------------------------


def lines(observation: Observation) -> list[str]:
    """Write an observation as lines, one for each fact, so that two can be compared line by line."""
    told = ["shutting down"] if observation.closing else []
    for worker in observation.workers:
        told += [f"{worker.worker} owns {_said(entry)}" for entry in worker.entries]
        told += [f"{worker.worker} has dropped the value of {rref}" for rref in worker.dropped]
        told += [f"{worker.worker} holds {_said(user)}" for user in worker.users]
        told += [f"{one.source} waits for an answer from {one.target}: {_label(one)}" for one in worker.unanswered]
    told += [f"amiss: {complaint}" for complaint in observation.amiss]
    return told + [f"in flight from {one.source} to {one.target}: {_label(one)}" for one in observation.flying]


def difference(model: Any, other: Any, name: str, lines: Callable[[Any], list[str]] = lines) -> list[str]:
    """List what only the model has and what only the other has, each line with whose it is."""
    expected, found = lines(model), lines(other)
    width = max(len("model"), len(name))
    only_model = [f"{'model':{width}}  {line}" for line in expected if line not in found]
    return only_model + [f"{name:{width}}  {line}" for line in found if line not in expected]


def _label(message: MessageView) -> str:
    return f"{message.kind}({message.fork})"


def _said(view: EntryView | UserView) -> str:
    """Say a view in one line: its name, then each field that says anything."""
    first, *rest = view.__struct_fields__
    parts = [f"{name} {_plain(getattr(view, name))}" for name in rest if getattr(view, name) not in (False, (), "none")]
    return f"{getattr(view, first)}: {', '.join(parts)}"


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{one[0]}@{one[1]}" if isinstance(one, tuple) else str(one) for one in value)
    return "yes" if value is True else str(value)
