"""What handlers do, collected from all steps of some worlds, in the shape of the tables that the protocol files open with."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable
from enum import IntEnum
from operator import attrgetter
from types import ModuleType
from typing import Any

import pytest

from farref.model.checker.interface import Action, Model
from farref.model.tables import Event, Transitions
from tests.model.reachable import steps


class Collector:
    """Listens to the handlers of protocol files while steps are taken."""

    def __init__(self, event: Callable[[Action, str], Event]) -> None:
        self.event = event  # which event it is, by the action that is taken and the name of the handler
        self.seen: dict[ModuleType, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
        self.action: Action = None
        self.depth = 0

    def listen(self, patch: pytest.MonkeyPatch, module: ModuleType, phase: str = "phase") -> None:
        """Be told what each handler of a file is given, a record, and what it gives, a record and what is sent."""
        for name, handler in inspect.getmembers(module, inspect.isfunction):
            is_handler = handler.__annotations__.get("return") in ("Step", "Step | None") and not name.startswith("_")
            if handler.__module__ == module.__name__ and is_handler:
                patch.setattr(module, name, self._heard(module, handler, attrgetter(phase)))

    def _heard(
        self, module: ModuleType, handler: Callable[..., Any], phase: Callable[[Any], IntEnum]
    ) -> Callable[..., Any]:
        def handle(record: Any, *others: Any, **named: Any) -> Any:
            self.depth += 1
            result = handler(record, *others, **named)
            self.depth -= 1
            if result is not None and self.depth == 0:  # a handler that another one calls is a part of that one
                where = self.event(self.action, handler.__name__), phase(record)
                self.seen[module][where][phase(result[0])] |= {_kind(message) for message in result[1]}
            return result

        return handle

    def watch(self, model: Model, states_max: int | None = None) -> None:
        """Take every step from the reachable states of a model, or from those found first."""
        for _ in steps(Watched(model, self), states_max):
            pass

    def table(self, module: ModuleType) -> Transitions:
        """What the handlers of a file did, as a table."""
        return {
            where: {then: frozenset(sends) for then, sends in what.items()} for where, what in self.seen[module].items()
        }


class Watched:
    """A model that says which action is being taken."""

    def __init__(self, model: Model, collector: Collector) -> None:
        self.model, self.collector = model, collector
        self.initial, self.actions, self.renamings = model.initial, model.actions, model.renamings

    def step(self, state: Any, action: Action) -> Any:
        """Give the state after the action."""
        self.collector.action = action
        return self.model.step(state, action)


def _kind(sent: Any) -> type:
    """Give the class of a message, which may come with what it carries."""
    return type(sent[0]) if isinstance(sent, tuple) else type(sent)


def lines(table: Transitions) -> set[str]:
    """Write a table as lines, so that two can be compared."""
    return {
        f"{_event(event)} in {phase.name} leads to {then.name} and sends {_names(sends)}"
        for (event, phase), outcomes in table.items()
        for then, sends in outcomes.items()
    }


def _event(event: Event) -> str:
    return _names(event) if isinstance(event, tuple) else str(event.__name__)


def _names(kinds: Iterable[type]) -> str:
    return " ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
