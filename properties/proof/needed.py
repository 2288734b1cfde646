"""Is a rule needed? Without it some clause is no longer kept by some step, and two small states show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from farref.properties.proof.induction.counterexample import counterexample
from farref.properties.proof.induction.prove import Failure, OnQuestion, prove
from farref.properties.proof.induction.questions import cases
from farref.properties.proof.induction.tell import Told, tell
from farref.properties.proof.induction.theory import Theorem, Verdict
from farref.properties.proof.solvers.solver import Solver
from farref.properties.proof.subjects import Subject

NOT_SPOKEN_OF: Final = "not spoken of"

Wanted = Callable[[str, str], bool]


@dataclass(frozen=True)
class Needed:
    """What becomes of the theorems without one rule."""

    rule: str
    theorem: str | None
    lost: str | None
    step: str | None
    verdict: str
    told: Told | None = None
    why: str = ""

    @property
    def is_shown(self) -> bool:
        """Say whether this is as it should be: the rule is needed, or no theorem here is about it."""
        return self.verdict in (Verdict.REFUTED.value, NOT_SPOKEN_OF)


def needed(subject: Subject, rule: str, solver: Solver, on_question: OnQuestion) -> Needed:
    """Take a rule away, and say which clause is lost first."""
    if rule in subject.silent:
        return Needed(rule, None, None, None, NOT_SPOKEN_OF, why=subject.silent[rule])
    unknown: Needed | None = None
    for theorem, wanted in _questions(subject, rule):
        for failure in _lost(theorem, solver, subject.without(rule), on_question, wanted):
            verdict, told = judged(failure, theorem, solver)
            found = Needed(rule, theorem.id, failure.claim, failure.place, verdict.value, told)
            if verdict is Verdict.REFUTED:
                return found
            unknown = unknown or found
    return unknown or Needed(rule, None, None, None, Verdict.PROVED.value)


def _questions(subject: Subject, rule: str) -> Iterator[tuple[Theorem, Wanted]]:
    """Ask first about the steps that heed the rule and about what is not a step, of all theorems; and then about all."""
    rules = subject.without(rule)
    for theorem in subject.theorems:
        names = {case.name for case in cases(theorem, rules)} - steps_that_heed(theorem, rule, rules)
        yield theorem, lambda place, _, names=names: place not in names  # type: ignore[misc]
    yield from ((theorem, lambda *_: True) for theorem in subject.theorems)


def _lost(
    theorem: Theorem, solver: Solver, rules: Mapping[str, bool], on_question: OnQuestion, wanted: Wanted
) -> tuple[Failure, ...]:
    outcome = prove(replace(theorem, situations=()), solver, rules, on_question, only=wanted, first_only=True)
    if not outcome.is_whole:
        raise KeyboardInterrupt  # half of a row would be no row
    return outcome.failures


class _Watched(dict[str, bool]):
    """Rules that remember which of them were looked at."""

    def __init__(self, rules: Mapping[str, bool]) -> None:
        super().__init__(rules)
        self.read: set[str] = set()

    def __getitem__(self, rule: str) -> bool:
        self.read.add(rule)
        return super().__getitem__(rule)


def steps_that_heed(theorem: Theorem, rule: str, rules: Mapping[str, bool]) -> set[str]:
    """Name the steps in whose making a rule was looked at."""
    watched, found = _Watched(rules), set[str]()
    for case in cases(theorem, watched):
        found |= {case.name} if rule in watched.read else set()
        watched.read.clear()
    return found


def judged(failure: Failure, theorem: Theorem, solver: Solver) -> tuple[Verdict, Told | None]:
    """Look for a small counterexample. One that is found refutes the claim, also where the solver gave up at first."""
    found = counterexample(failure, theorem.theory, solver)
    if found is None:
        return failure.verdict, None
    return Verdict.REFUTED, tell(failure, found, theorem.theory)
