"""The twin as a Hypothesis state machine: its rules are what the model allows, its failures shrink and can be reproduced.

Hypothesis chooses the size of the world and one step after the other. There is a rule for each sort of step, so that what it
prints can be read. When it is tired, the run is taken to its end, where all tables must be empty.

    TestTwin = twin_machine(SimulatedBackend).TestCase
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from farref.model.actions import Action
from farref.model.world import Bounds
from farref.properties.backends.backend import Backend
from farref.properties.candidates import LATE
from farref.properties.candidates import SORTS as ALL_SORTS
from farref.properties.twin import Twin

SORTS: Final = {sort: kinds for sort, kinds in ALL_SORTS.items() if sort != LATE}


def bounds_strategy() -> st.SearchStrategy[Bounds]:
    """Worlds of a size that shows everything and shrinks to little."""
    small = st.integers(0, 1)
    return st.builds(
        Bounds,
        workers=st.integers(2, 4),
        rrefs=st.integers(1, 2),
        forks=st.integers(1, 4),
        drops=small,
        duplicates=small,
        timeouts=small,
        fetches=st.integers(0, 2),
        failures=small,
        results=st.booleans(),
        self_shares=st.booleans(),
        shutdown=st.booleans(),
    )


class TwinMachine(RuleBasedStateMachine):
    """A run in the making; subclasses say on which backend. Whoever gives it closes it: it may be the same for all runs."""

    make_backend: Callable[[], Backend]

    @initialize(bounds=bounds_strategy(), restless=st.booleans())
    def start(self, bounds: Bounds, restless: bool) -> None:
        """Begin a run."""
        backend = type(self).make_backend()
        backend.restless = restless
        self.twin = Twin(bounds, backend)
        self.is_over = False
        self._sort()

    def take(self, sort: str, data: st.DataObject) -> None:
        """Take a step of some sort."""
        action = data.draw(st.sampled_from(self.possible[sort]), label=sort)
        self.is_over = True  # unless the step ends well
        self.twin.step(action)
        self.is_over = False
        self._sort()

    def _sort(self) -> None:
        enabled = self.twin.enabled()
        self.possible: dict[str, list[Action]] = {
            sort: [action for action in enabled if isinstance(action, kinds)] for sort, kinds in SORTS.items()
        }

    @precondition(lambda self: not any(self.possible.values()))
    @rule()
    def rest(self) -> None:
        """Nothing can happen any more, so nothing may be left."""
        self.twin.check_end()

    def teardown(self) -> None:
        """Take the run to its end, if it has begun and has not failed."""
        if hasattr(self, "twin") and not self.is_over:
            self.twin.finish()


def _rule_for(sort: str) -> Any:
    def step(self: TwinMachine, data: st.DataObject) -> None:
        self.take(sort, data)

    step.__name__ = sort.replace(" ", "_")
    return precondition(lambda self: bool(self.possible[sort]))(rule(data=st.data())(step))


def twin_machine(make: Callable[[], Backend]) -> type[TwinMachine]:
    """Give the state machine that drives a backend beside the model."""
    rules = {sort.replace(" ", "_"): _rule_for(sort) for sort in SORTS}
    return type("Machine", (TwinMachine,), {"make_backend": staticmethod(make), **rules})
