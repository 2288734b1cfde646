"""Two solvers, and no solver at all, give the same answers about the same formulas."""

from __future__ import annotations

import pytest

from farref.properties.proof.induction.counterexample import counterexample
from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.theory import Theorem, Verdict
from farref.properties.proof.induction.worlds import small_world
from farref.properties.proof.logic.formulas import (
    NUMBER,
    Applied,
    Formula,
    Related,
    Variable,
    at_most,
    either,
    every,
    less,
    plus,
    same,
    some,
    worth,
)
from farref.properties.proof.logic.small import compiled
from farref.properties.proof.needed import needed
from farref.properties.proof.rref.safety import RREFS, SAFETY
from farref.properties.proof.rref.state import FORK, RREF
from farref.properties.proof.solvers import cvc5_solver
from farref.properties.proof.solvers.cvc5_solver import Cvc5
from farref.properties.proof.solvers.known import SOLVERS
from farref.properties.proof.solvers.solver import Answer, Solver
from farref.properties.proof.subjects import SUBJECTS, Subject

pytestmark = pytest.mark.long

F, G = Variable("f", FORK), Variable("g", FORK)
S = RREFS.state
SMALL = [subject for subject in SUBJECTS.values() if subject.name != "rref"]
THEOREMS = [(subject, theorem) for subject in SMALL for theorem in subject.theorems]


@pytest.fixture(params=SOLVERS)
def solver(request: pytest.FixtureRequest) -> Solver:
    """Each solver in turn."""
    return SOLVERS[request.param]()


@pytest.mark.parametrize(("subject", "theorem"), THEOREMS, ids=[one.id for _, one in THEOREMS])
def test_cvc5_proves_it_too(subject: Subject, theorem: Theorem) -> None:
    """That z3 does, and with how many questions, the tests of each subject say."""
    found = prove(theorem, Cvc5(), subject.sound)
    assert (found.verdict, found.failures) == (Verdict.PROVED, ())


@pytest.mark.parametrize(
    "step", ["UserDelete: the entry goes", "LetGo: the user goes", "Ack(ForkRequest): the user stays"]
)
def test_every_solver_proves_a_step_of_the_large_one(solver: Solver, step: str) -> None:
    found = prove(SAFETY, solver, SUBJECTS["rref"].sound, only=lambda place, claim: place == step and claim[0] == "J")
    assert (found.verdict, found.queries) == (Verdict.PROVED, 25)


@pytest.mark.parametrize("rule", ["parent_waits_for_children", "processes_once"])
def test_every_solver_shows_that_a_rule_is_needed(solver: Solver, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cvc5_solver.OPTIONS, "tlimit-per", "1000")  # cvc5 may look for an infinite state first
    found = needed(SUBJECTS["rref"], rule, solver, lambda *_: None)
    assert found.verdict == "refuted"
    assert found.told is not None


PAIR = some(FORK, lambda f: some(FORK, lambda g: ~same(f, g) & S.parent(f, g)))
NUMBERS = at_most(plus(1, worth(S.counted(F), 2)), 2) & S.counted(F)
FORMULAS: list[tuple[Formula, Answer]] = [
    (S.counted(F) & ~S.counted(F), Answer.NO),
    (S.counted(F) & ~S.counted(G), Answer.YES),
    (S.counted(F) & ~S.counted(G) & same(F, G), Answer.NO),
    (PAIR & every(FORK, S.counted), Answer.YES),
    (PAIR & every(FORK, lambda f: every(FORK, lambda g: same(f, g))), Answer.NO),
    (either(S.counted(F), S.held(F), S.held(G)) & S.counted(F) & ~S.held(F), Answer.NO),
    (NUMBERS, Answer.NO),
    (less(worth(S.counted(F), 1), 1) & ~S.counted(F), Answer.YES),
]


@pytest.mark.parametrize(("formula", "answer"), FORMULAS)
def test_small_questions(solver: Solver, formula: Formula, answer: Answer) -> None:
    found = small_world([formula], RREFS, solver, {FORK: 2, RREF: 1})
    assert (found is not None) == (answer is Answer.YES)
    if found is not None:
        world, meant = found
        assert compiled(formula, tuple(meant))(world, *meant.values())


def test_a_variable_is_not_a_function_of_the_same_name(solver: Solver) -> None:
    """z3 identifies things by their names; this once made the proof of the window wrong, and only cvc5 noticed."""
    session = solver.session({"low": ((), NUMBER), "f": ((FORK,), None)})
    session.suppose([~same(Variable("low", NUMBER), Applied("low", (), NUMBER)), Related("f", (Variable("f", FORK),))])
    assert session.satisfiable() is Answer.YES


def test_hypotheses_are_forgotten(solver: Solver) -> None:
    session = solver.session({"counted": ((FORK,), None)})
    session.push()
    session.suppose([S.counted(F), ~S.counted(F)])
    assert session.satisfiable() is Answer.NO
    session.pop()
    assert session.satisfiable() is Answer.YES


def test_a_counterexample_is_looked_up_without_the_solver(solver: Solver) -> None:
    rules = SUBJECTS["rref"].without("owner_registers_shares")
    found = prove(SAFETY, solver, rules, only=lambda place, claim: (place, claim) == ("OwnerShare", "J9"))
    [failure] = found.failures
    example = counterexample(failure, RREFS, solver)
    assert example is not None
    assert example.after is not None
    assert len(example.before.things["Fork"]) == 1
    assert {fact[0] for fact in example.after.facts - example.before.facts} <= {"minted", "call", "result"}
