"""The proof of passes beside the autograd model: clauses, steps, and states that no run need reach.

One direction makes no sense here: the proof leaves open which messages a message causes, and when a worker refuses one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from farref.model.autograd.rules import SOUND
from farref.model.autograd.world import Bounds
from farref.model.checker.fast import check
from farref.properties.proof.autograd.passes import (
    MESSAGE,
    PASS,
    WORKER,
    balanced,
    first_unentered,
    pass_of,
    root_of,
    target,
)
from farref.properties.proof.autograd.passes_invariant import COMMIT, PASSES
from farref.properties.proof.induction.questions import invariant
from farref.properties.proof.link.compared import PASSES as LINK
from farref.properties.proof.link.grounded import Frame
from farref.properties.proof.link.passes import LinkedModel, facts_of, properties
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    Variable,
    all_of,
    every,
    iff,
    implies,
    none_of,
    same,
)
from farref.properties.proof.logic.small import Small, Thing
from tests.properties.proof.link.drawn import every_fact, passed, states

S = PASSES.state
BOUNDS = Bounds("there-and-back", passes=2, duplicates=1, timeouts=1, failures=1)
COMPARED = ("unused result", "hidden path", "there and back", "diamond")
"""The others are compared by `bench/proof.py`."""


@pytest.mark.parametrize("name", COMPARED)
def test_every_clause_holds_and_every_step_of_the_model_is_one_of_the_proof(name: str) -> None:
    [bounds] = [one.bounds for one in LINK.portfolio if one.name == name]
    assert check(LINK.model(bounds), LINK.properties(bounds)).counterexamples == {}


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        ("passes_have_identity", "B16"),
        ("takes_effect_once", "B3"),
        ("stages_until_commit", "B9"),
        ("returns_after_commit", "B11"),
        ("decision_is_final", "S8"),
        ("aborts_everywhere", "B13"),
        ("answers_latecomers", "B12"),
    ],
)
def test_without_a_rule_clauses_and_steps_are_lost(rule: str, lost: str) -> None:
    wanted = [one for one in properties(BOUNDS) if one.id in (lost, "steps")]
    found = check(LinkedModel(BOUNDS, replace(SOUND, **{rule: False})), wanted, stop_at_violation=False)
    assert found.counterexamples.keys() == {lost, "steps"}


# -- states that no run need reach -------------------------------------------------------------------------------------


def of_the_model() -> Iterator[Formula]:
    """Say what the model adds: a root hears at once what it tells itself, a message has one place, and one cause."""

    def root(p: Term) -> Formula:
        here = root_of(p), p
        takes = S.engaged(*here) & (S.left(*here) | S.takes_part(*here))
        decides = all_of(~(S.running(p) & balanced(S, p)), first_unentered(S, p))
        return all_of(decides, none_of(S.committing(*here), S.aborting(*here)), implies(S.begun(p), takes))

    def message(m: Term) -> Formula:
        by_root = same(target(m), root_of(pass_of(m)))
        return all_of(
            implies(S.reported(m), ~by_root), ~(S.flying(m) & S.copied(m)), implies(S.copied(m), S.processed(m))
        )

    def cause(m: Term, one: Term, other: Term) -> Formula:
        return implies(S.caused(m, one), ~S.from_root(m) & implies(S.caused(m, other), same(one, other)))

    yield every(PASS, lambda p: root(p) & implies(~S.begun(p), same(root_of(p), Variable("w0", WORKER))))
    yield every(WORKER, lambda w: every(PASS, lambda p: iff(S.staged(w, p), S.takes_part(w, p))))
    yield every(MESSAGE, message)
    yield every(MESSAGE, lambda m: every(MESSAGE, lambda one: every(MESSAGE, lambda other: cause(m, one, other))))


def has_cycle(state: Small) -> bool:
    """Say whether a message has caused itself. Logic cannot rule that out; what causes was sent before."""
    cause = {fact[1]: fact[2] for fact in state.facts if fact[0] == "caused"}

    def causes(one: Thing) -> Iterator[Thing]:
        for _ in cause:
            one = cause.get(one, "")
            yield one

    return any(one in causes(one) for one in cause)


def test_the_model_keeps_the_invariant_where_no_run_need_lead() -> None:
    model, checks, steps = LinkedModel(BOUNDS), properties(BOUNDS), 0
    whole = model.names.frame((0, (0, 0)))
    frame = Frame(whole.things, {name: value for name, value in whole.functions.items() if name[0] != "root_of"})
    sorts = {"Message": MESSAGE, "Worker": WORKER, "Pass": PASS}
    for state in states(PASSES, [*invariant(COMMIT), *of_the_model()], frame, sorts, 100):
        world = passed(state, BOUNDS)
        holds = facts_of(world, model.names)
        is_one = {fact for fact in every_fact(PASSES, frame) if holds(fact)} == state.facts
        if has_cycle(state) or not is_one:  # a worker that knows of a newer pass knows that older ones are over
            continue
        for after in (found for action in model.actions if (found := model.step(world, action)) is not None):
            steps += 1
            assert [one.id for one in checks if not all(case.holds(after) for case in one.cases)] == []
    assert steps > 50
