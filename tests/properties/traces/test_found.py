"""What the checker found, the implementation takes: up to every awkward situation, and up to where a defect would be.

What it takes a search to find, a walk finds by luck only. A defect cannot happen in the sound protocol. So of a run to one the
longest beginning is taken that can, which leads right up to where things would go wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from farref.model.checker import fast
from farref.model.rref.actions import Action
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import RULES, SOUND, TORCH
from farref.model.rref.world import Bounds
from farref.properties.protocol import Configuration
from farref.properties.protocols import sound_model
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.portfolio import PORTFOLIO
from farref.properties.rref.sometimes import rref_witnesses
from farref.properties.traces.replay import beginning
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.twin import Twin


@dataclass(frozen=True)
class Run:
    """A run, and what it was found for."""

    name: str
    bounds: Bounds
    actions: tuple[Action, ...]


def witness_runs(configurations: Iterable[Configuration]) -> Iterator[Run]:
    """Give the shortest run to each awkward situation of some configurations."""
    for one in configurations:
        result = fast.check(RRefModel(one.bounds), rref_witnesses(one.bounds))
        for name, actions in result.witnesses.items():
            yield Run(f"{name} ({one.name})", one.bounds, tuple(actions))


def claim_runs() -> Iterator[Run]:
    """Give the shortest run to each known defect of PyTorch, as far as the sound protocol goes along."""
    for claim in CLAIMS.values():
        found = fast.check(RRefModel(claim.bounds, TORCH), [claim.property]).counterexample
        if found is not None:
            yield Run(claim.id, claim.bounds, beginning(sound_model(claim.bounds), found.actions))


def mutant_runs(configurations: Iterable[Configuration]) -> Iterator[Run]:
    """Give the shortest run to what each missing rule breaks, as far as the sound protocol goes along."""
    for one in configurations:
        for rule in RULES:
            result = fast.check(RRefModel(one.bounds, SOUND.without(rule)), rref_properties(one.bounds))
            for name, found in result.counterexamples.items():
                taken = beginning(sound_model(one.bounds), found.actions)
                yield Run(f"{name} without {rule} ({one.name})", one.bounds, taken)


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
    assert beginning(sound_model(n1.bounds), n1.actions) == n1.actions
