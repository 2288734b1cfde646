"""The proof is about the model: their steps are the same, and what is proved holds in the worlds of the model.

The smaller configurations of the standard portfolio are looked at as a whole, a few others in part.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

import pytest

from farref.model.checker.fast import check
from farref.model.checker.interface import Budget
from farref.model.rref.ids import RRefId
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND
from farref.model.rref.world import Bounds, empty_world
from farref.model.values import IdSet
from farref.properties.proof.induction.questions import invariant
from farref.properties.proof.induction.theory import Clause
from farref.properties.proof.induction.worlds import SmallWorlds, small_world
from farref.properties.proof.link.back import renumbered, world_of
from farref.properties.proof.link.clauses import broken, checks
from farref.properties.proof.link.converse import only_in_the_proof
from farref.properties.proof.link.steps import compiled_steps, disagreement, remote_after, taken, ways
from farref.properties.proof.link.walk import moments
from farref.properties.proof.link.whole import Linked, LinkedModel, facts_of
from farref.properties.proof.link.whole import properties as linked_properties
from farref.properties.proof.link.worlds import state_of
from farref.properties.proof.logic.formulas import Related, Variable, every
from farref.properties.proof.logic.small import Fact, Small
from farref.properties.proof.rref.liveness import LIVENESS
from farref.properties.proof.rref.safety import RREFS, SAFETY
from farref.properties.proof.rref.state import FORK, RREF, State
from farref.properties.rref.portfolio import PORTFOLIO
from tests.properties.proof.asking import SOLVER

WHOLE = ("one fork", "two forks", "three workers", "two fetches", "more faults")
PARTS = ("two RRefs", "tree, fetches", "three forks: drops, failures, results")
PART = 500
"""About so many worlds of these are looked at. `bench/proof.py` looks at all worlds of all configurations."""

NEAR = [Bounds(2, rrefs=2, forks=2), Bounds(3, forks=2, drops=1, duplicates=1, fetches=1, failures=1, results=True)]


# -- every clause holds, and every step of the model is a step of the proof --------------------------------------------


@pytest.mark.parametrize("name", [*WHOLE, *PARTS])
def test_every_clause_holds_and_every_step_of_the_model_is_that_step_of_the_proof(name: str) -> None:
    [bounds] = [one.bounds for one in PORTFOLIO if one.name == name]
    budget = Budget(states_max=None if name in WHOLE else PART)
    found = check(LinkedModel(bounds), linked_properties(bounds), budget=budget)
    assert found.counterexamples == {}
    assert found.distinct >= PART


@pytest.mark.parametrize("bounds", NEAR, ids=str)
def test_what_is_looked_up_fact_by_fact_is_the_state_of_the_proof(bounds: Bounds) -> None:
    """The same comparison, once more, with whole states and without the checker."""
    model = LinkedModel(bounds)
    for (world, remote), moves in islice(moments(bounds), 0, 800, 10):
        state = Linked(world, IdSet(rref in remote for rref in range(bounds.rrefs)))
        holds, wanted = facts_of(state, bounds), state_of(world, remote, bounds)
        assert {fact for fact in every_fact(wanted) if holds(fact)} == wanted.facts
        assert broken(wanted) == []
        for _, _, action, after in moves:
            assert disagreement(world, action, after, remote, bounds) is None
            following = model.step(state, action)
            assert following is not None
            assert not following.differs


def every_fact(state: Small) -> Iterator[Fact]:
    """List everything that could be said of the things of a state."""
    for one in (*State.vocabulary(), *(one for one in RREFS.constant if one.sorts)):
        yield from ((one.name, *things) for things in product(*(state.things[sort.name] for sort in one.sorts)))


NOT_OF_THE_MODEL = (
    "FailCall FetchCall",
    "FetchFailed",
    "FinishFunction of an entry that went",
    "UserDelete of a fork that is not counted",
    "Ack(ForkRequest) of a fork that is not pending",
    "Ack(CreateFailed) of a fork that is not pending",
)
"""The steps that only the proof has, and those that cannot happen (`tests/properties/proof/rref/test_safety.py`)."""


def test_the_model_takes_every_step_of_the_proof() -> None:
    """Nothing is compared only in part: the model takes all steps of the proof, but for those that the proof alone has."""
    missing = {step.name for step in compiled_steps() if not step.name.startswith(NOT_OF_THE_MODEL)}
    everything = Bounds(2, forks=2, failures=1, results=True, fetches=1, timeouts=1, drops=1, duplicates=1)
    for bounds in (PORTFOLIO[0].bounds, Bounds(3, forks=2, failures=1), everything):
        for _, moves in islice(moments(bounds), 10_000):
            if not missing:
                return
            for world, remote, action, after in moves:
                step = taken(world, action, bounds)
                if step is not None and any(name.startswith(step.name) for name in missing):
                    missing -= {name for name, _ in ways(step, state_of(world, remote, bounds, after.lineage))}
    assert missing == set()


@pytest.mark.parametrize(
    "rule", ["registers_atomically", "owner_registers_shares", "processes_once", "fetch_pins_user"]
)
def test_a_model_without_a_rule_takes_other_steps(rule: str) -> None:
    bounds = PORTFOLIO[0].bounds
    [steps] = [one for one in linked_properties(bounds) if one.id == "steps"]
    found = check(LinkedModel(bounds, SOUND.without(rule)), [steps]).counterexample
    assert found is not None
    model, world, remote = RRefModel(bounds, SOUND.without(rule)), empty_world(bounds), frozenset[RRefId]()
    for action in found.actions:
        after = model.step(world, action)
        assert after is not None
        difference = disagreement(world, action, after, remote, bounds)
        assert (difference is not None) == (action is found.actions[-1])
        world, remote = after, remote_after(action, remote)


def test_a_clause_that_is_lost_is_found_in_a_world() -> None:
    bounds = Bounds(2, forks=2)
    model = LinkedModel(bounds, SOUND.without("parent_waits_for_children"))
    found = check(model, linked_properties(bounds), stop_at_violation=False)
    assert {"J9", "J16", "G2"} <= found.counterexamples.keys()


# -- every step of the proof is a step of the model --------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [PORTFOLIO[1].bounds, Bounds(3, forks=3), Bounds(2, rrefs=2, forks=2)], ids=str)
def test_every_step_of_the_proof_is_a_step_of_the_model(bounds: Bounds) -> None:
    open_ended = replace(bounds, shutdown=False)
    for (world, remote), _ in islice(moments(open_ended), 0, 900, 3):
        assert list(only_in_the_proof(world, remote, open_ended)) == []


# -- every clause says something ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", SAFETY.invariant, ids=lambda one: one.id)
def test_every_clause_excludes_a_state_that_no_other_one_excludes(missing: Clause[State]) -> None:
    others = [one.holds(RREFS.state) for one in SAFETY.invariant if one is not missing]
    near_miss = [*others, ~missing.holds(RREFS.state)]
    sizes = ({FORK: number, RREF: 1} for number in (1, 2, 3))
    assert any(small_world(near_miss, RREFS, SOLVER, one) for one in sizes)


# -- states that no run need reach -------------------------------------------------------------------------------------

UNREACHED = Bounds(2, forks=3, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, results=True)


def random_states(number: int) -> Iterator[Small]:
    """Give states that satisfy the invariant and some facts that were drawn, whether or not a run reaches them."""
    drawn, f = random.Random(0), [Variable(f"f{number}", FORK) for number in range(3)]
    sound = [
        RREFS.state.minted(f[0]),
        RREFS.state.minted(f[1]),
        every(FORK, lambda one: ~RREFS.state.fetch_failed(one)),
    ]
    worlds = SmallWorlds([*invariant(LIVENESS), *sound], RREFS, SOLVER, {FORK: 3, RREF: 1})
    names = [one.name for one in State.vocabulary() if one.sorts == (FORK,)]
    for _ in range(number):
        found = worlds.find([Related(name, (drawn.choice(f),)) for name in drawn.sample(names, 3)])
        if found is not None and not has_cycle(found[0]):
            yield renumbered(found[0])


def has_cycle(state: Small) -> bool:
    """Say whether a fork is its own ancestor. Logic cannot rule that out; a fork is minted after its parent."""
    parent = {fact[1]: fact[2] for fact in state.facts if fact[0] == "parent"}
    return any(parent.get(parent.get(parent[one], ""), "") == one or parent.get(parent[one]) == one for one in parent)


def test_the_model_keeps_the_invariant_where_no_run_need_lead() -> None:
    model, steps, states = RRefModel(UNREACHED), 0, 0
    for state in random_states(300):
        world, remote = world_of(state, UNREACHED)
        assert broken(state_of(world, remote, UNREACHED)) == []
        states += 1
        for action in model.actions:
            after = model.step(world, action)
            if after is not None:
                steps += 1
                assert broken(state_of(after, remote_after(action, remote), UNREACHED)) == [], (action, state)
                assert disagreement(world, action, after, remote, UNREACHED) is None
    assert states > 50
    assert steps > 200


def test_a_world_comes_back_from_its_state() -> None:
    for (world, remote), _ in islice(moments(UNREACHED), 0, 1500, 5):
        if world.minted[0]:
            state = state_of(world, remote, UNREACHED)
            again, still = world_of(state, UNREACHED)
            assert (state_of(again, still, UNREACHED), still) == (state, remote)


def test_all_clauses_are_looked_up() -> None:
    assert list(checks())[:28] == [*(f"J{number}" for number in range(1, 26)), "K1", "K2", "K3"]
    assert len(checks()) == 28 + len(SAFETY.goals)
