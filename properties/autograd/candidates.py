"""Which steps may be possible in a world of distributed autograd, by sort: few enough that most of them are.

As for RRefs (`rref/candidates.py`), what can happen is for the model to say, and asking it about everything takes long.
An action about a message needs the message under way, or lost; of the others there are few.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from farref.model.autograd import actions as act
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.world import World

SORTS: Final[dict[str, tuple[type, ...]]] = {
    "choose": (act.Choose,),
    "call": (act.SendTensors, act.SendDetached),
    "begin": (act.Backward,),
    "deliver": (act.Deliver,),
    "deliver late": (act.Deliver,),
    "duplicate": (act.Duplicate,),
    "drop": (act.DropMessage,),
    "fail": (act.FailCall, act.Raise),
    "time out": (act.TimeOut,),
    "retry": (act.Retry,),
    "release": (act.ReleaseContext,),
    "die": (act.Crash,),
    "notice": (act.Notice,),
}
"""The sorts of step, and the actions of each."""

LATE: Final = "deliver late"
_SORT_OF: Final = {kind: sort for sort, kinds in SORTS.items() if sort != LATE for kind in kinds}


class Candidates:
    """The actions of a world of some size, sorted by what has to be there for them."""

    def __init__(self, model: AutogradModel, late: Iterable[str]) -> None:
        self.late = {*late}
        self.anywhere: dict[str, list[act.Action]] = defaultdict(list)
        self.on_message: dict[str, dict[int, Any]] = defaultdict(dict)
        for action in model.actions:
            sort = _SORT_OF[type(action)]
            if isinstance(action, act.OnMessage):
                is_late = sort == "deliver" and type(action.message).__name__ in self.late
                self.on_message[LATE if is_late else sort][model.bounds.places[action.message]] = action
            else:
                self.anywhere[sort].append(action)

    def has(self, sort: str) -> bool:
        """Say whether there is any action of a sort."""
        return sort in self.anywhere or sort in self.on_message

    def of(self, sort: str, world: World) -> list[act.Action]:
        """List the actions of a sort that may be possible in a world."""
        known = self.on_message.get(sort)
        if known is None:
            return list(self.anywhere.get(sort, ()))
        if sort == "retry":
            return [known[place] for place in world.network.lost.members()]
        carried = world.network.carried
        return [known[place] for place, content in enumerate(carried) if content is not None and place in known]
