"""Which steps may be possible in a world, by sort: few enough that most of them are.

What can happen is for the model to say. Asking it about every action there is, at every step, takes longer than all else, so
here is what can be seen at a glance: an action about a message needs the message under way, or unanswered. What the others
need, each protocol says. Too many candidates cost time. One that is missing would never be drawn, so a test compares with
all that the model allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, ClassVar, Final, Generic, TypeVar

from farref.model.checker.interface import Model

LATE: Final = "deliver late"
"""The sort of a delivery of a message that is kept back."""

AnyModel = TypeVar("AnyModel", bound=Model)
AnyWorld = TypeVar("AnyWorld")


class Candidates(ABC, Generic[AnyModel, AnyWorld]):
    """The actions of a model, sorted by what has to be there for them; some kinds of message are delivered late only."""

    sorts: ClassVar[Mapping[str, tuple[type, ...]]]
    """The sorts of step, and the actions of each."""

    def __init__(self, model: AnyModel, late: Iterable[str]) -> None:
        self.model, self.late = model, {*late}
        self.on_message: dict[str, dict[Hashable, Any]] = defaultdict(dict)
        others: dict[str, dict[Hashable, list[Any]]] = defaultdict(lambda: defaultdict(list))
        sort_of = {kind: sort for sort, kinds in self.sorts.items() if sort != LATE for kind in kinds}
        for action in model.actions:
            sort, message = sort_of[type(action)], getattr(action, "message", None)
            if message is None:
                others[sort][self.subject(action)].append(action)
            else:
                is_late = sort == "deliver" and type(message).__name__ in self.late
                self.on_message[LATE if is_late else sort][self.place(message)] = action
        self.others = {
            sort: [(self.condition(sort, subject), actions) for subject, actions in found.items()]
            for sort, found in others.items()
        }

    def has(self, sort: str) -> bool:
        """Say whether there is any action of a sort."""
        return sort in self.on_message or sort in self.others

    def of(self, sort: str, world: AnyWorld) -> list[Any]:
        """List the actions of a sort that may be possible in a world."""
        known = self.on_message.get(sort)
        if known is None:
            return [action for may, actions in self.others.get(sort, []) if may(world) for action in actions]
        places = self.unanswered(world) if sort == "retry" else self.under_way(world)
        return [known[place] for place in places if place in known]

    @abstractmethod
    def place(self, message: Any) -> Hashable:
        """Give what a message is found by in the network."""

    @abstractmethod
    def under_way(self, world: AnyWorld) -> Iterable[Hashable]:
        """List what can be found under way."""

    @abstractmethod
    def unanswered(self, world: AnyWorld) -> Iterable[Hashable]:
        """List what can be found that may have to be sent again."""

    def subject(self, action: Any) -> Hashable:
        """Give what an action that is about no message is about; None if that does not matter."""
        del action
        return None

    def condition(self, sort: str, subject: Any) -> Callable[[AnyWorld], object]:
        """Give what says whether an action of a sort may be possible in a world, by what it is about."""
        del sort, subject
        return lambda _: True
