"""What the checker found, the implementation takes: up to every awkward situation, and up to where a defect would be."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from farref.properties.rref.portfolio import PORTFOLIO
from farref.properties.traces.found import Run, claim_runs, mutant_runs, sound_beginning, witness_runs
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.twin import Twin


def take(runs: Iterable[Run], restless: bool) -> list[Run]:
    taken = []
    for run in runs:
        twin = Twin(run.bounds, SimulatedBackend(restless=restless))
        assert twin.take(run.actions) == len(run.actions)
        twin.finish()
        taken.append(run)
    return taken


@pytest.mark.parametrize("restless", [False, True], ids=["calm", "restless"])
class TestReplays:
    def test_every_awkward_situation(self, restless: bool) -> None:
        runs = take(
            witness_runs([one for one in PORTFOLIO if one.name in ("two forks", "three workers", "tree, results")]),
            restless,
        )
        situations = {run.name.partition(" ")[0] for run in runs}
        assert len(situations) == 26

    def test_every_known_defect(self, restless: bool) -> None:
        assert len(take(claim_runs(), restless)) == 12

    def test_every_missing_rule(self, restless: bool) -> None:
        runs = take(mutant_runs(PORTFOLIO[:1]), restless)
        assert sum(len(run.actions) for run in runs) > 2 * len(runs)


def test_a_defect_cannot_be_taken_to_its_end() -> None:
    [n1] = [run for run in claim_runs() if run.name == "N1"]
    assert len(n1.actions) < 12
    assert sound_beginning(n1.bounds, n1.actions) == n1.actions
