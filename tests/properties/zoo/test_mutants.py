"""The twin can fail: every mutant of the implementation is caught, told and shortened, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from farref.properties.conformance.kit.document import Verdict
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import disagrees, shrink
from farref.properties.twin.twin import Twin
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS, RREF_MUTANTS, SHELL_MUTANTS
from farref.properties.zoo.mutants.mutant import Mutant
from farref.rendering.conformance.conclusion import Conclusion, conclusion
from farref.zookeeping.judged import MUTANTS, MUTATED, MUTATED_PROCESSES
from tests.properties.judging import having, judged

Make = Callable[..., Any]


@dataclass(frozen=True)
class Driven:
    """How a protocol is driven, and how long a shortened story may be."""

    make: Make
    seconds: float
    shrinking: float
    longest: int


RREF = Driven(SimulatedBackend, seconds=60.0, shrinking=5.0, longest=20)
AUTOGRAD = Driven(SimulatedAutograd, seconds=120.0, shrinking=120.0, longest=15)
CASES = [
    *(pytest.param("rref", RREF, mutant, id=mutant.name) for mutant in RREF_MUTANTS.values()),
    *(pytest.param("autograd", AUTOGRAD, mutant, id=mutant.name) for mutant in AUTOGRAD_MUTANTS.values()),
]


@pytest.mark.parametrize(("protocol", "driven", "mutant"), CASES)
def test_lockstep_catches_it(protocol: str, driven: Driven, mutant: Mutant) -> None:
    with mutant.alive():
        tally = campaign(driven.make, seed=1, seconds_max=driven.seconds, protocol=protocol)
        assert tally.disagreement is not None, f"{mutant.name} ({mutant.clause}) survives: {mutant.says}"
        assert tally.schedule is not None
        wrong = driven.make(restless=tally.schedule.restless)
        shortest = shrink(tally.disagreement, wrong, seconds_max=driven.shrinking)
    assert len(shortest.actions) <= min(driven.longest, len(tally.disagreement.actions))
    assert shortest.lines
    assert len(shortest.story) == len(shortest.actions)
    clean = driven.make(restless=tally.schedule.restless)
    assert disagrees(shortest.bounds, clean, shortest.actions) is None, "the clean implementation agrees on that run"
    if protocol == "rref":  # and to the end
        twin = Twin(shortest.bounds, clean)
        assert twin.take(shortest.actions) == len(shortest.actions)
        twin.finish()


JUDGED = {name: mutant for name, mutant in MUTANTS.items() if mutant.checks}


@pytest.mark.parametrize("mutant", JUDGED.values(), ids=JUDGED)
def test_it_does_not_conform_though_all_else_is_right(mutant: Mutant) -> None:
    """One of them has PyTorch's N1, which once passed all checks. Those of the shell are judged between real processes."""
    place = MUTATED_PROCESSES if mutant.name in SHELL_MUTANTS else MUTATED
    report = judged(f"{place}:{mutant.name}", mutant.checks)
    assert having(report, Verdict.FAIL) == set(mutant.checks)
    assert conclusion((report,)) is Conclusion.BROKEN
