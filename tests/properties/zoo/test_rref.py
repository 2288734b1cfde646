"""The twin can fail: every mutant of the implementation is caught, told and shortened, and leaves nothing behind."""

from __future__ import annotations

import pytest

from farref.clauses import find_clause
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import disagrees, shrink
from farref.properties.twin.twin import Twin
from farref.properties.zoo.mutants.mutant import Mutant
from farref.properties.zoo.rref import ZOO

SECONDS_MAX = 60.0
LONGEST_STORY = 20

each_mutant = pytest.mark.parametrize("mutant", ZOO.values(), ids=ZOO)


def test_there_are_enough() -> None:
    assert len(ZOO) >= 15


@each_mutant
def test_lockstep_catches_it(mutant: Mutant) -> None:
    with mutant.alive():
        tally = campaign(SimulatedBackend, seed=1, seconds_max=SECONDS_MAX)
        assert tally.disagreement is not None, f"{mutant.name} ({mutant.clause}) survives: {mutant.text}"
        assert tally.schedule is not None
        shortest = shrink(tally.disagreement, SimulatedBackend(restless=tally.schedule.restless), seconds_max=5)
    assert len(shortest.actions) <= min(LONGEST_STORY, len(tally.disagreement.actions))
    assert shortest.lines
    assert len(shortest.story) == len(shortest.actions)
    clean = SimulatedBackend(restless=tally.schedule.restless)
    assert disagrees(shortest.bounds, clean, shortest.actions) is None, "the clean implementation agrees on that run"
    twin = Twin(shortest.bounds, clean)
    assert twin.take(shortest.actions) == len(shortest.actions)
    twin.finish()


@each_mutant
def test_it_breaks_a_clause_that_exists(mutant: Mutant) -> None:
    assert find_clause(mutant.clause).id == mutant.clause
    assert mutant.text.endswith(".")
