"""Which steps of distributed autograd may be possible in a world: of those that are about no message there are few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, Mend, Retry
from farref.model.autograd import actions as act
from farref.model.autograd.messages import Message
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.world import World
from farref.properties.twin.candidates import LATE, Candidates

SORTS: Final[dict[str, tuple[type, ...]]] = {
    "choose": (act.Choose,),
    "call": (act.SendTensors, act.SendDetached),
    "begin": (act.Backward,),
    "deliver": (Deliver,),
    LATE: (Deliver,),
    "duplicate": (Duplicate,),
    "drop": (DropMessage,),
    "fail": (FailCall, act.Raise),
    "time out": (act.TimeOut,),
    "retry": (Retry,),
    "release": (act.ReleaseContext,),
    "die": (act.Crash,),
    "notice": (act.Notice,),
    "exclude": (Exclude,),
    "follow views": (Install, act.Fence),
    "cut": (Cut,),
    "mend": (Mend,),
}


class AutogradCandidates(Candidates[AutogradModel, World]):
    """The actions of a world of some size, sorted by what has to be there for them."""

    sorts: ClassVar = SORTS

    def place(self, message: Message) -> int:
        """Give what a message is found by in the network."""
        return self.model.bounds.places[message]

    def under_way(self, world: World) -> Iterable[int]:
        """List what can be found under way."""
        return (place for place, content in enumerate(world.network.carried) if content is not None)

    def unanswered(self, world: World) -> Iterable[int]:
        """List what can be found that may have to be sent again."""
        return world.network.lost.members()
