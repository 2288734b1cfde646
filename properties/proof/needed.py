"""Is a rule needed? Without it some clause is no longer kept by some step, and two small states show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from farref.properties.proof.induction.counterexample import counterexample
from farref.properties.proof.induction.prove import Failure, OnQuestion, prove
from farref.properties.proof.induction.questions import cases
from farref.properties.proof.induction.tell import Told, tell
from farref.properties.proof.induction.theory import Theorem, Verdict
from farref.properties.proof.solvers.solver import Solver
from farref.properties.proof.subjects import Subject

NOT_SPOKEN_OF = "not spoken of"


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
    for theorem in subject.theorems:
        for failure in _lost(theorem, solver, rule, subject.without(rule), on_question):
            verdict, told = judged(failure, theorem, solver)
            found = Needed(rule, theorem.id, failure.claim, failure.place, verdict.value, told)
            if verdict is Verdict.REFUTED:
                return found
            unknown = unknown or found
    return unknown or Needed(rule, None, None, None, Verdict.PROVED.value)


def _lost(
    theorem: Theorem, solver: Solver, rule: str, rules: Mapping[str, bool], on_question: OnQuestion
) -> tuple[Failure, ...]:
    """Find a clause that is lost. The steps that heed the rule are asked about first, and then all."""
    heeding = steps_that_heed(theorem, rule, rules)
    for wanted in (lambda place, _: place in heeding, lambda *_: True):
        outcome = prove(theorem, solver, rules, on_question, only=wanted, first_only=True)
        if not outcome.is_whole:
            raise KeyboardInterrupt  # half of a row would be no row
        if outcome.failures:
            return outcome.failures
    return ()


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
    return Verdict.REFUTED, tell(failure, found, theorem.theory, text_of(theorem, failure.claim))


def text_of(theorem: Theorem, claim: str) -> str:
    """Give the sentence of a clause or of a consequence."""
    known = {one.id: one.text for one in (*theorem.invariant, *theorem.goals)}
    return known.get(claim, theorem.text)
