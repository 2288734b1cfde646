"""What a proof is made of: a state, steps, clauses of an invariant, and what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

from farref.properties.proof.logic.formulas import NUMBER, Formula, Sort, Variable, every
from farref.properties.proof.logic.relations import Named, Relations
from farref.properties.proof.solvers.solver import Signature

AnyState = TypeVar("AnyState", bound=Relations)


class Verdict(Enum):
    """What is known of a theorem. A solver that gave up or ran out of time has proved nothing."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Case(Generic[AnyState]):
    """One way in which a step can go: when, and to which state.

    `finite` are instances of the one fact that first-order logic cannot say: a finite set that is not empty has a first
    element. Each is about the state before, and the few steps that need one say which.
    """

    name: str
    guard: Formula
    after: AnyState
    finite: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Clause(Generic[AnyState]):
    """A sentence about every state: its name, the clauses of the spec it serves, the sentence, and the formula.

    The formula is about things of some sorts; it is meant for all of them.
    """

    id: str
    serves: str
    text: str
    sorts: tuple[Sort, ...]
    body: Callable[..., Formula]

    def holds(self, state: AnyState) -> Formula:
        """Say that it holds in a state."""
        return self._of(state, self.sorts, ())

    def _of(self, state: AnyState, sorts: tuple[Sort, ...], given: tuple[Variable, ...]) -> Formula:
        if not sorts:
            return self.body(state, *given)
        return every(sorts[0], lambda thing: self._of(state, sorts[1:], (*given, thing)))


def clause(name: str, serves: str, *sorts: Sort) -> Callable[[Callable[..., Formula]], Clause[Any]]:
    """Make a clause of a function: its docstring is the sentence."""
    return lambda body: Clause(name, serves, " ".join((body.__doc__ or "").split()), sorts, body)


@dataclass(frozen=True)
class Lemma:
    """Something that follows from the invariant, in one state or over one step, and why it matters."""

    id: str
    part: str
    claim: Formula
    given: tuple[Formula, ...] = ()
    text: str = ""
    case: Case[Any] | None = None
    """The step, if it is about one."""


@dataclass(frozen=True)
class Situation:
    """Something that the invariant must allow. One that allows nothing would be kept by every step, and be worth nothing."""

    text: str
    formula: Formula


@dataclass(frozen=True)
class Theory(Generic[AnyState]):
    """A protocol in logic: its states, where it starts, its steps under some rules, and its axioms."""

    name: str
    state: AnyState
    initial: Callable[[AnyState], Formula]
    steps: Callable[[AnyState, Mapping[str, bool]], Iterable[Case[AnyState]]]
    axioms: tuple[Formula, ...] = ()
    functions: Mapping[str, tuple[tuple[Sort, ...], Sort]] = field(default_factory=dict)
    """The functions that no step changes, with their sorts."""
    constant: tuple[Named, ...] = ()
    """The relations that no step changes, and those that choose between variants of a step."""


@dataclass(frozen=True)
class Theorem:
    """What is proved: which invariant is inductive, and what follows from it.

    `known` are clauses that another theorem proved of the same steps.
    """

    id: str
    text: str
    theory: Theory[Any]
    invariant: tuple[Clause[Any], ...]
    goals: tuple[Clause[Any], ...] = ()
    known: tuple[Clause[Any], ...] = ()
    lemmas: Callable[[Mapping[str, bool]], Iterable[Lemma]] = lambda _: ()
    finite: tuple[Formula, ...] = ()
    situations: tuple[Situation, ...] = ()


def symbols(theory: Theory[Any]) -> dict[str, Signature]:
    """List every relation and function of a theory, for a solver."""
    state = {one.name: (one.sorts, NUMBER if one.is_amount else None) for one in theory.state.vocabulary()}
    constant = {one.name: (one.sorts, None) for one in theory.constant}
    return {**state, **constant, **theory.functions}
