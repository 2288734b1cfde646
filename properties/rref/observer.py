"""The model of the RRef protocol, as an observation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.model.ids import WorkerId, worker_name
from farref.model.messages import kind_of
from farref.model.rref.addressing import ends
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import CONTROL, KINDS_COUNT, message_of
from farref.model.rref.owner import Entry, OwnerRRef, is_listed
from farref.model.rref.user import Fetch, Handle, User, UserRRef
from farref.model.rref.world import Bounds, World, empty_world
from farref.model.values import IdSet, Table
from farref.properties.rref.observation import EntryView, MessageView, Observation, UserView, WorkerView
from farref.properties.rref.touched import differing
from farref.properties.traces.replay import NETWORK

VALUES: Final = ("absent", "expected", "created", "ready", "absent")
"""What is told of an entry's value, by the model's phase. To the owner GONE is ABSENT (R8)."""

STATES: Final = ("absent", "pending", "confirmed", "untold")
HANDLES: Final = ("none", "parked", "held", "timed out")
FETCHES: Final = ("none", "waiting", "abandoned")


BY_NAME: Final = sorted(range(KINDS_COUNT), key=lambda kind: kind_of(message_of(kind, RRefId(0), ForkId(0))))
"""The kinds of message in the order of their names: what is seen in this order needs no sorting (`in_order`)."""

CONTROL_BY_NAME: Final = [kind for kind in BY_NAME if kind < len(CONTROL)]


class ModelObserver:
    """Looks at the worlds of one run.

    Most of a world is as it was a step ago. Who holds a fork is written into it once, as it is minted, so within one run a
    view follows from its record alone, and is made once. A worker is looked at anew only if something of it has changed.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._entries: dict[tuple[int, OwnerRRef], EntryView] = {}
        self._users: dict[tuple[int, UserRRef], UserView] = {}
        self._messages: dict[tuple[int, int], MessageView] = {}
        self._last = empty_world(bounds)
        rrefs = [(rref, bounds.owner(RRefId(rref))) for rref in range(bounds.rrefs)]
        self._owned = [[rref for rref, owner in rrefs if owner == worker] for worker in range(bounds.workers)]
        self._workers = [WorkerView(worker_name(WorkerId(worker))) for worker in range(bounds.workers)]
        self._flying: list[list[MessageView]] = [[] for _ in self._last.network.flying]  # by kind
        self._unanswered: list[list[MessageView]] = [[] for _ in self._last.network.unanswered]

    def observe(self, world: World) -> Observation:
        """Look at a world."""
        last, self._last = self._last, world
        self._see(world, last.network.flying, world.network.flying, self._flying)
        for worker in self._changed(last, world):
            self._workers[worker] = self._worker(world, worker)
        return Observation(
            workers=tuple(self._workers),
            flying=tuple([view for kind in BY_NAME for view in self._flying[kind]]),
            closing=world.closing,
        )

    def _changed(self, last: World, world: World) -> set[int]:
        """List the workers of which anything looks other than in the last world."""
        sources = self._see(world, last.network.unanswered, world.network.unanswered, self._unanswered)
        changed = [worker for worker, view in enumerate(self._workers) if view.worker in sources]
        changed += [self.bounds.owner(RRefId(rref)) for rref in differing(last.owners, world.owners)]
        forks = [*differing(last.users, world.users), *differing(last.lineage, world.lineage)]
        return {*changed, *[holder for fork in forks if (holder := world.lineage[fork].holder) is not None]}

    def _see(self, world: World, last: Table[IdSet], table: Table[IdSet], seen: list[list[MessageView]]) -> set[str]:
        """See the messages of a table again, of the kinds that have changed. Say whose messages those are or were."""
        sources, known = set[str](), self._messages
        for kind in differing(last, table):
            views = [known.get((kind, fork)) or self._message(world, kind, fork) for fork in table[kind].members()]
            sources.update([view.source for view in (*seen[kind], *views)])
            seen[kind] = views
        return sources

    def _worker(self, world: World, worker: int) -> WorkerView:
        owned = [(rref, world.owners[rref]) for rref in self._owned[worker]]
        name = worker_name(WorkerId(worker))
        held = [fork for fork, data in enumerate(world.lineage) if data.holder == worker]
        users = [(fork, world.users[fork]) for fork in held if world.users[fork].phase is not User.ABSENT]
        return WorkerView(
            worker=name,
            entries=tuple([self._entry(world, *one) for one in owned if _is_seen(one[1])]),
            dropped=tuple([f"x{rref}" for rref, owner in owned if owner.phase is Entry.GONE]),
            users=tuple([self._user(world, *one) for one in users]),
            unanswered=tuple([one for kind in CONTROL_BY_NAME for one in self._unanswered[kind] if one.source == name]),
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
        fetches=tuple(f"f{fork}" for fork in owner.fetches.members()),
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
    return tuple((f"f{fork}", _holder(world, fork)) for fork in forks)


def _holder(world: World, fork: int) -> str:
    holder = world.lineage[fork].holder
    return "nobody" if holder is None else worker_name(holder)
