"""Which steps of the RRef protocol may be possible in a world: one about an RRef or a fork needs somebody to hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from farref.model.actions import Deliver, DropMessage, Duplicate, FailCall, Retry
from farref.model.rref import actions as act
from farref.model.rref.ids import ForkId
from farref.model.rref.messages import Message, kind_number
from farref.model.rref.model import RRefModel
from farref.model.rref.owner import Entry, OwnerRRef
from farref.model.rref.user import Fetch, User, UserRRef, is_held, is_usable
from farref.model.rref.world import World
from farref.model.values import IdSet
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
}
Place = tuple[int, int]
"""What a message is found by: the number of its kind, and its fork."""

Subject = tuple[str, int] | None
"""An RRef or a fork, and what is done with it; or nothing."""

BUDGETS: Final = {"duplicate": "duplicates", "drop": "drops", "fail": "failures", "time out": "timeouts"}
"""What has to be left for a sort."""


class RRefCandidates(Candidates[RRefModel, World]):
    """The actions of a world of some size, sorted by what has to be there for them."""

    sorts: ClassVar = SORTS

    def place(self, message: Message) -> Place:
        """Give what a message is found by in the network."""
        return kind_number(message), int(message.fork)

    def under_way(self, world: World) -> Iterable[Place]:
        """List what can be found under way."""
        return _found(world.network.flying)

    def unanswered(self, world: World) -> Iterable[Place]:
        """List what can be found that may have to be sent again."""
        return _found(world.network.unanswered)

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

    def may(self, sort: str, subject: Subject, world: World) -> bool:
        """Say whether an action of a sort may be possible, by who holds the RRef or the fork that it is about."""
        match subject:
            case "rref", rref:
                return _owner_may(sort, world.owners[rref]) and not (sort == "begin" and world.minted[rref])
            case "rref shared", rref:
                return world.owners[rref].held and world.minted[rref] < self.model.bounds.forks
            case "fork", fork:
                return _user_may(sort, world.users[fork])
            case "fork shared", fork:
                minted = world.minted[self.model.bounds.rref_of(ForkId(fork))]
                return minted < self.model.bounds.forks and is_usable(world.users[fork])
            case "fork fetched", fork:
                return world.budgets.fetches > 0 and is_usable(world.users[fork])
            case _:
                return True


def _found(table: Iterable[IdSet]) -> Iterator[Place]:
    for kind, forks in enumerate(table):
        if any(forks):
            yield from ((kind, fork) for fork in forks.members())


def _owner_may(sort: str, owner: OwnerRRef) -> bool:
    match sort:
        case "begin":
            return owner.phase is Entry.ABSENT
        case "let go":
            return owner.held
        case _:
            return owner.running


def _user_may(sort: str, user: UserRRef) -> bool:
    return is_held(user) if sort == "let go" else user.fetch is Fetch.WAITING or user.phase is User.PENDING
