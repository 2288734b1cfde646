"""Ask a solver every question of a theorem, and say what is known then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from farref.properties.proof.induction.questions import Claim, Group, groups, invariant
from farref.properties.proof.induction.theory import Case, Theorem, Verdict, symbols
from farref.properties.proof.induction.worlds import possible
from farref.properties.proof.logic.formulas import Formula
from farref.properties.proof.solvers.solver import Answer, Session, Solver

OnQuestion = Callable[[str, str], None]
"""Is told of each question: where, and what is claimed there."""


@dataclass(frozen=True)
class Failure:
    """A claim that was not proved: where, which, what the solver said, and the question again."""

    place: str
    claim: str
    text: str
    answer: Answer
    hypotheses: tuple[Formula, ...]
    denied: Formula
    case: Case[Any] | None

    @property
    def verdict(self) -> Verdict:
        """What is known of the claim."""
        return Verdict.REFUTED if self.answer is Answer.YES else Verdict.UNKNOWN


@dataclass(frozen=True)
class Outcome:
    """What came of a theorem: how much was asked, how long it took, and every claim that was not proved."""

    theorem: Theorem
    solver: str
    steps: int
    queries: int
    seconds: float
    failures: tuple[Failure, ...]
    is_whole: bool = True
    impossible: tuple[str, ...] = ()
    """Situations that the theorem should speak of, and that its invariant rules out. Then it says little."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the theorem."""
        if any(one.verdict is Verdict.REFUTED for one in self.failures):
            return Verdict.REFUTED
        is_open = self.failures or self.impossible or not self.is_whole or not self.queries
        return Verdict.UNKNOWN if is_open else Verdict.PROVED


def prove(
    theorem: Theorem,
    solver: Solver,
    rules: Mapping[str, bool],
    on_question: OnQuestion = lambda *_: None,
    *,
    only: Callable[[str, str], bool] = lambda *_: True,
    first_only: bool = False,
) -> Outcome:
    """Ask every question, or those that are wanted, or until one claim is lost."""
    begin, asked, steps = time.process_time(), 0, set[str]()
    failures: list[Failure] = []
    is_whole = True
    impossible: tuple[str, ...] = ()
    session = solver.session(symbols(theorem.theory))
    try:
        for group, failure in _answers(theorem, session, rules, on_question, only):
            asked += 1
            steps |= {group.place} if group.case is not None else set()
            failures += [failure] if failure is not None else []
            if failure is not None and first_only:
                break
        impossible = () if failures else _impossible(theorem, solver)
    except KeyboardInterrupt:
        is_whole = False
    spent = time.process_time() - begin
    return Outcome(theorem, solver.name, len(steps), asked, spent, tuple(failures), is_whole, impossible)


def _impossible(theorem: Theorem, solver: Solver) -> tuple[str, ...]:
    before = invariant(theorem)
    return tuple(one.text for one in theorem.situations if not possible([*before, one.formula], theorem.theory, solver))


def _answers(
    theorem: Theorem,
    session: Session,
    rules: Mapping[str, bool],
    on_question: OnQuestion,
    only: Callable[[str, str], bool],
) -> Iterator[tuple[Group, Failure | None]]:
    for group in groups(theorem, rules):
        wanted = [claim for claim in group.claims if only(group.place, claim.id)]
        if not wanted:
            continue
        session.push()
        session.suppose(group.hypotheses)
        for claim in wanted:
            on_question(group.place, claim.id)
            yield group, _ask(session, group, claim)
        session.pop()


def _ask(session: Session, group: Group, claim: Claim) -> Failure | None:
    denied = ~claim.make()
    session.push()
    session.suppose([denied])
    answer = session.satisfiable()
    session.pop()
    if answer is Answer.NO:
        return None
    return Failure(group.place, claim.id, claim.text, answer, group.hypotheses, denied, group.case)
