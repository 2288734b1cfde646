"""What a checker needs to know of a model, and what it tells in return. Nothing here is about references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

State = Any
"""A tree of immutable values, see `farref.model.values`."""

Action = Any
"""A frozen dataclass; `str(action)` is its label and `action.kind` the name its coverage is counted under."""

Predicate = Callable[[State], bool]


class ModelError(Exception):
    """The model cannot be checked as it is written; the message names the likely cause."""


class Kind(Enum):
    """How a property quantifies over the states of a run."""

    ALWAYS = "always"  # in every reachable state
    SOMETIMES = "sometimes"  # in at least one reachable state: a green run is not an empty one
    EVENTUALLY = "eventually"  # no run ends, or goes round for ever (fairly), without it


class Case(NamedTuple):
    """One instance of a property, for instance for one fork; small ones are cheap to check and say what failed.

    `text` is the sentence it is an instance of, where the property has several.
    """

    label: str
    holds: Predicate
    text: str = ""


@dataclass(frozen=True)
class Property:
    """A sentence that must hold, as a family of predicates: all of them (always, eventually) or one (sometimes)."""

    id: str
    clause: str
    kind: Kind
    text: str
    cases: tuple[Case, ...]


class Model(Protocol):
    """A transition system: where it starts, what may happen, and what then follows.

    A model may also tell cheaply which actions can be ruled out: `candidates(state)` lists, in order, the places in `actions`
    of all that may be possible. The reference engine then asks about no others, but for a sample of states about all.
    """

    @property
    def initial(self) -> State:
        """The state every run starts from."""

    @property
    def actions(self) -> Sequence[Action]:
        """Every action that could ever happen, whether or not it can happen now."""

    def step(self, state: State, action: Action) -> State | None:
        """Give the state after the action, or None where it cannot happen. Deterministic."""

    def renamings(self) -> Iterable[Renaming]:
        """The ways to rename interchangeable participants, the identity left out."""


@dataclass(frozen=True)
class Renaming:
    """One permutation of interchangeable participants, told leaf by leaf: (path, value) becomes (path, value).

    A path is the tuple of field names and indices that leads to the leaf.
    """

    leaf: Callable[[tuple[str | int, ...], Any], tuple[tuple[str | int, ...], Any]]


class Verdict(Enum):
    """What is known of a property, or of a whole check, at the end of a search."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class Counterexample:
    """A run that breaks a property, a shortest one unless it was a random walk: its actions, and which instance failed.

    For a run that goes round for ever, `loop_start` is the number of steps before the part that repeats.
    """

    property: Property
    case: str
    actions: tuple[Action, ...]
    loop_start: int | None = None

    def text(self) -> str:
        """Give the sentence that is violated: that of the instance, or else that of the property."""
        return next((case.text for case in self.property.cases if case.label == self.case), "") or self.property.text


@dataclass(frozen=True)
class Budget:
    """Where a search stops at the latest; None is without limit."""

    states_max: int | None = None
    seconds_max: float | None = None
    depth_max: int | None = None


@dataclass(frozen=True)
class Progress:
    """Where a running search is, told as each level begins and about once a second in between.

    `frontier` counts the states of the level at hand that are still to be expanded.
    """

    distinct: int
    generated: int
    depth: int
    frontier: int
    seconds: float


@dataclass(frozen=True)
class Result:
    """What a search found: the same record whichever engine searched.

    `generated` counts the steps, as TLC does: 1 for the initial state, and in each distinct state 1 for each action that can
    happen there, wherever it leads: to a new state, a known one, or the same. With symmetry one state of each orbit counts.
    `depth` counts the states on the longest of all shortest paths, as TLC does: 1 for a model that cannot move.
    `coverage` has every kind of action the model knows, 0 for those that never fired. `witnesses` has a shortest run for
    each sometimes-property that was reached. `verdicts` and `counterexamples` are keyed by property id, and `counterexample`
    is that of the violated property listed first.
    """

    engine: str
    verdict: Verdict
    distinct: int
    generated: int
    depth: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    verdicts: Mapping[str, Verdict]
    coverage: Mapping[str, int]
    counterexample: Counterexample | None = None
    counterexamples: Mapping[str, Counterexample] = field(default_factory=dict)
    witnesses: Mapping[str, tuple[Action, ...]] = field(default_factory=dict)
    collision_bound: float = 0.0
    notes: tuple[str, ...] = ()
