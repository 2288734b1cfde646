"""The twin as a Hypothesis state machine: its steps are what the model allows, and what it finds is shrunk.

    TestTwin = twin_machine(SimulatedBackend).TestCase
    TestAutograd = twin_machine(SimulatedAutograd).TestCase

Hypothesis draws a world, and then one step after the other. There is one rule, `take`, and a step has the name that the model
gives it. So nothing is drawn in vain, and a failure is printed as a list of steps that can be pasted into a test. After every
step model and backend must look the same, and each property that must always hold is an invariant, by its name. Where nothing
more can happen, all tables must be empty, and another run begins. When Hypothesis has drawn enough, the last run is taken
to its end.

`keys.py` says how what Hypothesis draws becomes a step, `worlds.py` which worlds it draws. spec/testing.md is the manual.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from farref.model.checker.interface import Kind
from farref.properties.protocol import AnyProtocol
from farref.properties.traces.disagreement import record_disagreement
from farref.properties.traces.file import encode
from farref.properties.twin.backend import Backend, protocol_for
from farref.properties.twin.keys import KEYS, TEMPERS, Keys
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.twin.worlds import World, worlds

AGAIN: Final = "begin again"
"""The step where nothing can happen any more: the run ends, and another begins in the same world."""

TEMPERAMENT: Final = st.integers(0, TEMPERS - 1)
KEY: Final = st.integers(0, KEYS - 1)


@st.composite
def drawn_worlds(draw: st.DrawFn) -> World:
    """Draw the world of an example."""
    machine: TwinMachine = draw(st.runner())
    return draw(machine.worlds)


@st.composite
def drawn_steps(draw: st.DrawFn) -> str:
    """Draw a step that can be taken now; with the first of a run also its temperament."""
    machine: TwinMachine = draw(st.runner())
    if machine.keys is None:
        machine.keys = Keys(machine.twin.model.bounds, draw(TEMPERAMENT))
    action = machine.keys.step(draw(KEY), machine.twin.world)
    return AGAIN if action is None else str(action)


class TwinMachine(RuleBasedStateMachine):
    """Some runs in one world. Subclasses say on which backend: one for all runs, which begins anew with each."""

    make_backend: ClassVar[Callable[[], Backend]]
    protocol: ClassVar[AnyProtocol]
    worlds: ClassVar[st.SearchStrategy[World]]
    save: ClassVar[Path | None]
    backend: ClassVar[Backend | None] = None
    shortest: ClassVar[Disagreement | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.outside = sys.exc_info()[1]
        self.is_running = False

    @initialize(bounds=drawn_worlds(), restless=st.booleans())
    def start(self, bounds: World, restless: bool = False) -> None:
        """Begin in a world with these bounds, by name; the others are as usual."""
        backend = self.opened()
        backend.restless = restless
        self._begin(self.protocol.bounds(**bounds), backend)
        self.is_running = True

    @rule(step=drawn_steps())
    def take(self, step: str) -> None:
        """Take a step, by its name."""
        with self._kept():
            if step != AGAIN:
                self.twin.advance(self.twin.named(step))
                return
            self.twin.check_end()
        self._begin(self.twin.model.bounds, self.twin.backend)

    def _begin(self, bounds: Any, backend: Backend) -> None:
        with self._kept():
            self.twin = Twin(bounds, backend)
        self.keys: Keys | None = None

    def teardown(self) -> None:
        """Take the last run to its end, unless it has failed or Hypothesis has given it up."""
        if not self.is_running or sys.exc_info()[1] is not self.outside:
            return
        keys = Keys(self.twin.model.bounds)
        with self._kept():
            while (action := keys.step(0, self.twin.world)) is not None:
                self.twin.step(action)
            self.twin.check_end()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Keep the shortest run that is found. If the search for a shorter one is stopped, nothing is lost."""
        try:
            yield
        except Disagreement as found:
            kind, steps = type(self), len(found.actions)
            if kind.shortest is None or steps <= len(kind.shortest.actions):
                kind.shortest = found
                if kind.save is not None:
                    kind.save.write_bytes(encode(record_disagreement(found)))
            # All are raised here: Hypothesis takes what is raised at several places for several bugs.
            raise found.with_traceback(None) from found.__cause__

    @classmethod
    def opened(cls) -> Backend:
        """Give the backend of all runs."""
        if cls.backend is None:
            cls.backend = cls.make_backend()
        return cls.backend

    @classmethod
    def close(cls) -> None:
        """Give back whatever the backend has started. `TestCase` does so at its end."""
        if cls.backend is not None:
            cls.backend.close()
            cls.backend = None


def twin_machine(
    make: Callable[[], Backend], protocol: str | None = None, *, save: str | Path | None = None
) -> type[TwinMachine]:
    """Give the state machine that drives a backend beside the model.

    The protocol is named where `make` is not a class that names it, as `SimulatedBackend` does. If a file is named to save
    to, the shortest run that was found is written there, for `farref replay` and `farref explain`.
    """
    spoken = protocol_for(make, protocol)
    always = [one for one in spoken.properties(spoken.broadest) if one.kind is Kind.ALWAYS]
    members: dict[str, Any] = {one.id: _invariant(one.id, one.text) for one in always}
    members |= {"make_backend": staticmethod(make), "protocol": spoken, "save": None if save is None else Path(save)}
    members |= {"worlds": worlds(spoken.name, getattr(make, "fixed", {})), "__doc__": TwinMachine.__doc__}
    name = make.__name__ if isinstance(make, type) else spoken.name.title()
    machine: type[TwinMachine] = type(f"{name}Machine", (TwinMachine,), members)
    machine.TestCase.tearDownClass = classmethod(lambda _: machine.close())  # type: ignore[method-assign, assignment]
    return machine


def _invariant(name: str, text: str) -> Any:
    """Make the invariant that a property holds. Hypothesis prints all that it checks, so it is checked only where it fails."""

    def holds(self: TwinMachine) -> None:
        with self._kept():
            raise self.twin.violation()

    holds.__name__, holds.__doc__ = name, text
    return precondition(lambda self: any(one.property == name for one in self.twin.broken))(invariant()(holds))
