"""What a storm draws finds mistakes that nothing found before: each of its mutants is caught there, and not in lockstep."""

from __future__ import annotations

import pytest

from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.backends.rref.storm import situations as drawn
from farref.properties.twin.backends.rref.storm.backend import RRefStorm
from farref.properties.twin.backends.rref.storm.found import StormFound, take_again
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import shrink
from farref.properties.zoo.catalogue import RREF_MUTANTS, STORM_MUTANTS
from farref.properties.zoo.mutants.mutant import Mutant

SCHEDULES = 200
LOCKSTEP_SCHEDULES = 100
LONGEST = 40

FINDS = {
    drawn.SEVERAL: ("a_call_waits_for_one_of_its_forks", "the_first_fork_is_judged"),
    drawn.REFUSED: ("one_fork_of_a_failed_message_is_withdrawn",),
    drawn.TWICE: ("an_rref_twice_in_a_message_is_taken_on_once",),
    drawn.HOLDING: ("an_answer_ends_all_fetches", "what_a_value_holds_is_counted_once"),
    drawn.CARGO: ("the_arguments_of_a_creation_are_not_waited_for",),
    drawn.FORKS: ("the_sixth_fork_is_not_counted",),
    drawn.DEATH: (
        "a_call_waits_for_the_dead", "a_dead_creator_is_waited_for", "an_orphan_waits_for_its_children",
        "the_forks_of_the_dead_are_released",
    ),
    drawn.BEREFT: ("a_call_is_handed_what_the_dead_owned",),
    drawn.FROM_THE_DEAD: ("the_dead_are_heard",),
    drawn.LIFE: ("a_new_life_is_not_noticed",),
    drawn.LATE: ("an_earlier_life_is_heard", "an_answer_to_an_earlier_life_is_taken"),
}  # fmt: skip
"""Which mistakes each situation is there to find."""

each_mutant = pytest.mark.parametrize("mutant", STORM_MUTANTS.values(), ids=STORM_MUTANTS)


def test_every_mutant_belongs_to_a_situation() -> None:
    assert sorted(name for names in FINDS.values() for name in names) == sorted(STORM_MUTANTS)
    assert set(FINDS) <= set(drawn.SITUATIONS)


@each_mutant
def test_the_storm_catches_it(mutant: Mutant) -> None:
    with mutant.alive():
        tally = campaign(RRefStorm, seed=1, schedules_max=SCHEDULES)
        assert tally.disagreement is not None, f"{mutant.name} ({mutant.clause}) survives: {mutant.says}"
        shortest = shrink(tally.disagreement, RRefStorm(), seconds_max=20)
    assert isinstance(shortest, StormFound)
    assert len(shortest.moves) <= LONGEST
    assert shortest.lines
    wrong, taken = take_again(shortest.bounds, shortest.moves)
    assert wrong is None, "the clean implementation does it right"
    assert taken > 0


@each_mutant
def test_lockstep_does_not_see_it(mutant: Mutant) -> None:
    with mutant.alive():
        tally = campaign(SimulatedBackend, seed=1, schedules_max=LOCKSTEP_SCHEDULES, protocol="rref")
    assert tally.disagreement is None
    assert tally.schedules == LOCKSTEP_SCHEDULES


NOT_DRAWN = {"shutdown_refuses_nothing"}  # no storm shuts down
OTHERS = {name: mutant for name, mutant in RREF_MUTANTS.items() if name not in NOT_DRAWN}


@pytest.mark.parametrize("mutant", OTHERS.values(), ids=OTHERS)
def test_what_lockstep_finds_is_found_without_a_model_too(mutant: Mutant) -> None:
    with mutant.alive():
        assert campaign(RRefStorm, seed=1, schedules_max=SCHEDULES).disagreement is not None
