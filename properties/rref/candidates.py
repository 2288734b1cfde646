"""Which steps may be possible in a world, by sort: few enough that most of them are.

What can happen is for the model to say. Asking it about every action there is, at every step, takes longer than all else, so
here is what can be seen at a glance: an action about an RRef or a fork needs somebody to hold it, one about a message needs
the message under way or unanswered. Too many candidates cost time. One that is missing would never be drawn, so a test
compares with all that the model allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.messages import kind_number
from farref.model.rref.model import RRefModel
from farref.model.rref.owner import Entry, OwnerRRef
from farref.model.rref.user import Fetch, User, UserRRef, is_held, is_usable
from farref.model.rref.world import World
from farref.model.values import IdSet

SORTS: Final[dict[str, tuple[type, ...]]] = {
    "begin": (
        act.CreateLocal,
        act.CreateOnSelf,
        act.CreateRemote,
        act.OwnerShare,
        act.UserShare,
        act.FetchValue,
    ),
    "let go": (act.OwnerLetGo, act.LetGo),
    "finish": (act.FinishFunction,),
    "deliver": (act.Deliver,),
    "deliver late": (act.Deliver,),
    "duplicate": (act.Duplicate,),
    "drop": (act.DropMessage,),
    "fail": (act.FailCall,),
    "time out": (act.AbandonFetch, act.TimeOutCreation),
    "retry": (act.Retry,),
    "shut down": (act.Shutdown,),
}
"""The sorts of step, and the actions of each."""

Place = tuple[int, int]
"""What a message or a record is found by: the number of its kind, and its fork."""

LATE: Final = "deliver late"

_KIND_NAMES: Final = (*(kind.__name__ for kind in (*msg.CONTROL, *msg.USER_CALLS)), *["Ack"] * len(msg.CONTROL))
"""The name of each kind of message, by its number."""

_SORT_OF: Final = {kind: sort for sort, kinds in SORTS.items() if sort != LATE for kind in kinds}
_BEFALLING: Final = ("deliver", LATE, "duplicate", "drop", "fail")


class Candidates:
    """The actions of a world of some size, sorted by what has to be there for them."""

    def __init__(self, model: RRefModel, late: Iterable[str]) -> None:
        self.late = {number for number, kind in enumerate(_KIND_NAMES) if kind in late}
        self.on_rref: dict[tuple[str, int], list[act.Action]] = defaultdict(list)
        self.on_fork: dict[tuple[str, int], list[act.Action]] = defaultdict(list)
        self.on_message: dict[str, dict[Place, act.Action]] = {sort: {} for sort in (*_BEFALLING, "retry")}
        self.anywhere: dict[str, list[act.Action]] = defaultdict(list)
        for action in model.actions:
            self._enter(_SORT_OF[type(action)], action)
        self.sorts = {sort for sort, _ in (*self.on_rref, *self.on_fork)} | set(self.anywhere)
        self.sorts |= {sort for sort, found in self.on_message.items() if found}

    def _enter(self, sort: str, action: act.Action) -> None:
        match action:
            case act.OnMessage(message):
                place = kind_number(message), int(message.fork)
                is_late = sort == "deliver" and place[0] in self.late
                self.on_message[LATE if is_late else sort][place] = action
            case act.OnRRef(rref):
                self.on_rref[sort, rref].append(action)
            case act.OnFork(fork):
                self.on_fork[sort, fork].append(action)
            case _:
                self.anywhere[sort].append(action)

    def has(self, sort: str) -> bool:
        """Say whether there is any action of a sort."""
        return sort in self.sorts

    def of(self, sort: str, world: World) -> list[act.Action]:
        """List the actions of a sort that may be possible in a world."""
        if sort in self.on_message:
            table = world.network.unanswered if sort == "retry" else world.network.flying
            return list(_found(self.on_message[sort], table))
        if world.closing and sort in ("begin", "shut down"):
            return []
        return [*self.anywhere.get(sort, ()), *self._at_owners(sort, world), *self._at_users(sort, world)]

    def _at_owners(self, sort: str, world: World) -> Iterator[act.Action]:
        for rref, owner in enumerate(world.owners):
            if (sort, rref) in self.on_rref and _owner_may(sort, owner):
                yield from self.on_rref[sort, rref]

    def _at_users(self, sort: str, world: World) -> Iterator[act.Action]:
        for fork, user in enumerate(world.users):
            if (sort, fork) in self.on_fork and _user_may(sort, user):
                yield from self.on_fork[sort, fork]


def _found(known: dict[Place, act.Action], table: Iterable[IdSet]) -> Iterator[act.Action]:
    for kind, forks in enumerate(table):
        if any(forks):
            yield from (known[kind, fork] for fork in forks.members() if (kind, fork) in known)


def _owner_may(sort: str, owner: OwnerRRef) -> bool:
    match sort:
        case "begin":
            return owner.held or owner.phase is Entry.ABSENT
        case "let go":
            return owner.held
        case _:
            return owner.running


def _user_may(sort: str, user: UserRRef) -> bool:
    match sort:
        case "begin":
            return is_usable(user)
        case "let go":
            return is_held(user)
        case _:
            return user.fetch is Fetch.WAITING or user.phase is User.PENDING
