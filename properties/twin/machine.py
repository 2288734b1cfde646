"""The twin as a Hypothesis state machine: its rules are what the model allows, its failures shrink and can be reproduced.

Hypothesis chooses the size of the world and one step after the other. There is a rule for each sort of step, so that what it
prints can be read. When it is tired, the run is taken to its end, where all tables must be empty.

    TestTwin = twin_machine(SimulatedBackend).TestCase
    TestAutograd = twin_machine(SimulatedAutograd).TestCase
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.rref.world import Bounds
from farref.properties.autograd.schedules import draw_bounds
from farref.properties.protocol import AnyProtocol
from farref.properties.twin.backend import Backend, protocol_for
from farref.properties.twin.candidates import LATE
from farref.properties.twin.twin import Twin


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


def programs_strategy() -> st.SearchStrategy[AutogradBounds]:
    """Programs of distributed autograd, and what may go wrong with them: drawn as campaigns draw them, by Hypothesis."""
    return st.randoms(use_true_random=False).map(lambda random: draw_bounds(random, {}))


STRATEGIES: Final[dict[str, Callable[[], st.SearchStrategy[Any]]]] = {
    "rref": bounds_strategy,
    "autograd": programs_strategy,
}
"""The worlds of each protocol."""


class TwinMachine(RuleBasedStateMachine):
    """A run in the making; subclasses say on which backend. Whoever gives it closes it: it may be the same for all runs."""

    make_backend: Callable[[], Backend]
    protocol: AnyProtocol

    @initialize(data=st.data(), restless=st.booleans())
    def start(self, data: st.DataObject, restless: bool) -> None:
        """Begin a run."""
        backend = type(self).make_backend()
        backend.restless = restless
        self.sorts = _sorts(self.protocol)
        self.twin = Twin(data.draw(STRATEGIES[self.protocol.name](), label="bounds"), backend)
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
        self.possible = {
            sort: [action for action in enabled if isinstance(action, kinds)] for sort, kinds in self.sorts.items()
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


def twin_machine(make: Callable[[], Backend], protocol: str | None = None) -> type[TwinMachine]:
    """Give the state machine that drives a backend beside the model.

    The protocol is named where `make` is not a class that names it, as `SimulatedBackend` does.
    """
    spoken = protocol_for(make, protocol)
    rules = {sort.replace(" ", "_"): _rule_for(sort) for sort in _sorts(spoken)}
    return type("Machine", (TwinMachine,), {"make_backend": staticmethod(make), "protocol": spoken, **rules})


def _sorts(protocol: AnyProtocol) -> dict[str, tuple[type, ...]]:
    return {sort: kinds for sort, kinds in protocol.sorts.items() if sort != LATE}
