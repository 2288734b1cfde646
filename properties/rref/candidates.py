"""Which steps of the RRef protocol may be possible in a world: one about an RRef or a fork needs somebody to hold it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Final

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, Mend, Retry
from farref.model.rref import actions as act
from farref.model.rref.ids import ForkId
from farref.model.rref.messages import Message, kind_number
from farref.model.rref.model import RRefModel
from farref.model.rref.owner import Entry
from farref.model.rref.user import Fetch, User, UserRRef, is_held, is_usable
from farref.model.rref.world import World
from farref.model.values import IdSet
from farref.properties.rref.touched import differing
from farref.properties.twin.candidates import LATE, Candidates

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
    "deliver": (Deliver,),
    LATE: (Deliver,),
    "duplicate": (Duplicate,),
    "drop": (DropMessage,),
    "fail": (FailCall,),
    "time out": (act.AbandonFetch, act.TimeOutCreation),
    "retry": (Retry,),
    "shut down": (act.Shutdown,),
    "exclude": (Exclude,),
    "follow views": (Install, act.Settle, act.Bury, act.Reclaim, act.Join),
    "cut": (Cut,),
    "mend": (Mend,),
}
Place = tuple[int, int]
"""What a message is found by: the number of its kind, and its fork."""

Subject = tuple[str, int] | None
"""An RRef or a fork, and what is done with it; or nothing."""

BUDGETS: Final = {"duplicate": "duplicates", "drop": "drops", "fail": "failures", "time out": "timeouts", "cut": "cuts"}
"""What has to be left for a sort."""


class RRefCandidates(Candidates[RRefModel, World]):
    """The actions of a world of some size, sorted by what has to be there for them."""

    sorts: ClassVar = SORTS

    def __init__(self, model: RRefModel, late: Iterable[str]) -> None:
        super().__init__(model, late)
        self._under_way, self._unanswered = Places(), Places()

    def place(self, message: Message) -> Place:
        """Give what a message is found by in the network."""
        return kind_number(message), int(message.fork)

    def under_way(self, world: World) -> Iterable[Place]:
        """List what can be found under way."""
        return self._under_way.of(world.network.flying)

    def unanswered(self, world: World) -> Iterable[Place]:
        """List what can be found that may have to be sent again."""
        return self._unanswered.of(world.network.unanswered)

    def of(self, sort: str, world: World) -> list[Any]:
        """List the actions of a sort that may be possible in a world."""
        is_spent = sort in BUDGETS and not getattr(world.budgets, BUDGETS[sort])
        return [] if is_spent or (world.closing and sort in ("begin", "shut down")) else super().of(sort, world)

    def subject(self, action: Any) -> Subject:
        """Give the RRef or the fork that an action is about, if it is about one, and what is done with it."""
        match action:
            case act.OwnerShare(rref):
                return "rref shared", rref
            case act.UserShare(fork):
                return "fork shared", fork
            case act.FetchValue(fork):
                return "fork fetched", fork
            case act.OnRRef(rref):
                return "rref", rref
            case act.OnFork(fork):
                return "fork", fork
            case _:
                return None

    def condition(self, sort: str, subject: Subject) -> Callable[[World], object]:
        """Give what says whether an action of a sort may be possible, by who holds the RRef or the fork that it is about."""
        bounds = self.model.bounds
        match subject:
            case "rref", rref:
                return _at_owner(sort, rref)
            case "rref shared", rref:
                return lambda world: world.owners[rref].held and world.minted[rref] < bounds.forks
            case "fork", fork if sort == "let go":
                return lambda world: is_held(world.users[fork])
            case "fork", fork:
                return lambda world: _may_time_out(world.users[fork])
            case "fork shared", fork:
                rref = bounds.rref_of(ForkId(fork))
                return lambda world: world.minted[rref] < bounds.forks and is_usable(world.users[fork])
            case "fork fetched", fork:
                return lambda world: world.budgets.fetches and is_usable(world.users[fork])
            case _:
                return lambda _: True


class Places:
    """What is found in a table of the network. From step to step it changes in few kinds: the others are not read again."""

    def __init__(self) -> None:
        self._table: Sequence[IdSet] = ()
        self._by_kind: list[list[Place]] = []
        self._found: list[Place] = []

    def of(self, table: Sequence[IdSet]) -> list[Place]:
        """List what is found in a table, kind by kind."""
        last, self._table = self._table, table
        if last is not table:
            self._by_kind = self._by_kind or [[] for _ in table]
            for kind in differing(last or [None] * len(table), table):
                self._by_kind[kind] = [(kind, fork) for fork in table[kind].members()]
            self._found = [place for places in self._by_kind for place in places]
        return self._found


def _at_owner(sort: str, rref: int) -> Callable[[World], object]:
    match sort:
        case "begin":
            return lambda world: world.owners[rref].phase is Entry.ABSENT and not world.minted[rref]
        case "let go":
            return lambda world: world.owners[rref].held
        case _:
            return lambda world: world.owners[rref].running


def _may_time_out(user: UserRRef) -> bool:
    return user.fetch is Fetch.WAITING or user.phase is User.PENDING
