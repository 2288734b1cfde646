"""In small worlds, every step there is: taken by model and implementation from every pair of states that can be reached.

The pairs are counted too: a change in them is a change of the protocol, of the model or of what the implementation remembers.
"""

from __future__ import annotations

import pytest

from farref.model.rref.world import Bounds
from farref.properties.twin.backends.rref.fingerprint import fingerprint
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.refinement import Refinement
from farref.properties.twin.twin import Disagreement
from farref.properties.zoo.catalogue import RREF_MUTANTS

pytestmark = pytest.mark.long

WORLDS = {
    "no faults": (Bounds(2, forks=2), 563, 954, 2_467),
    "a failed call": (Bounds(2, forks=2, failures=1), 1_062, 1_759, 4_525),
    "a lost and a copied message": (
        Bounds(2, forks=2, drops=1, duplicates=1, owner_shares=False, self_shares=False),
        584,
        633,
        1_941,
    ),
    "a fetch and a timeout": (
        Bounds(2, forks=2, fetches=1, timeouts=1, owner_shares=False, self_shares=False),
        509,
        1_285,
        3_020,
    ),
    "one fork, every fault": (
        Bounds(2, forks=1, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1),
        812,
        2_506,
        5_067,
    ),
}
"""Bounds, and how many worlds, pairs and transitions there are."""


@pytest.mark.parametrize(("bounds", "worlds", "pairs", "transitions"), WORLDS.values(), ids=WORLDS)
def test_every_step_of_a_small_world_is_matched(bounds: Bounds, worlds: int, pairs: int, transitions: int) -> None:
    found = Refinement(bounds, fingerprint).search(SimulatedBackend())
    assert found.is_whole
    assert (found.worlds, found.pairs, found.transitions) == (worlds, pairs, transitions)


def test_a_restless_implementation_matches_too() -> None:
    found = Refinement(Bounds(2, forks=2), fingerprint).search(SimulatedBackend(restless=True))
    assert (found.worlds, found.is_whole) == (563, True)


def test_what_is_found_is_a_shortest_story() -> None:
    bounds = Bounds(2, forks=2, owner_shares=False, self_shares=False)
    with RREF_MUTANTS["parent_goes_before_its_children"].alive(), pytest.raises(Disagreement) as caught:
        Refinement(bounds, fingerprint).search(SimulatedBackend())
    assert [str(action) for action in caught.value.actions] == [
        "CreateRemote(x0, A)",
        "UserShare(f0, B, Call)",
        "LetGo(f0)",
        "Deliver(RemoteCall(f0))",
        "Deliver(UserAccept(f0))",
    ]


def test_a_search_that_is_cut_says_so() -> None:
    found = Refinement(Bounds(2, forks=2), fingerprint).search(SimulatedBackend(), transitions_max=100)
    assert not found.is_whole
