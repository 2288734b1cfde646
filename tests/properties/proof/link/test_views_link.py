"""The proof about members is about the model with views: their steps are the same, and what is proved holds in its worlds."""

from __future__ import annotations

from itertools import islice
from typing import Final

import pytest

from farref.model.rref.rules import SOUND
from farref.model.rref.world import Bounds
from farref.properties.proof.link.views import broken, checks, compiled_steps, disagreement, path, state_of, ways
from farref.properties.proof.link.walk import moments
from farref.properties.proof.views.quiet import QUIET
from farref.properties.proof.views.safety import RECLAIMING

FEW: Final = Bounds(3, forks=2, exclusions=1, owner_shares=False, self_shares=False)
WORLDS: Final = {
    "all of a small one": (Bounds(2, forks=1, exclusions=1), 1),
    "fetches": (Bounds(2, forks=2, fetches=1, exclusions=1), 71),
    "three workers": (FEW, 151),
    "somebody joins": (Bounds(3, forks=1, exclusions=1, joins=1), 5),
    "two views": (Bounds(3, forks=1, exclusions=2, self_shares=False), 71),
    "faults": (Bounds(2, forks=1, failures=1, drops=1, duplicates=1, exclusions=1), 23),
}
"""Every so many worlds of these are looked at, near ones and far ones."""


@pytest.mark.parametrize(("bounds", "every"), WORLDS.values(), ids=WORLDS)
def test_every_clause_holds_and_every_step_of_the_model_is_steps_of_the_proof(bounds: Bounds, every: int) -> None:
    seen = 0
    for (world, remote), moves in islice(moments(bounds), 0, None, every):
        seen += 1
        assert broken(state_of(world, remote, bounds)) == []
        for _, _, action, after in moves:
            assert disagreement(world, action, after, remote, bounds) is None
    assert seen > 30


OF_VIEWS: Final = {
    *("Install", "Settle", "Bury", "Stop telling", "CreateRemote by somebody excluded"),
    *("RemoteCall refused", "Call refused", "ForkRequest refused", "UserDelete refused", "ChildAccept refused"),
}


def test_the_model_takes_the_steps_that_views_add() -> None:
    """Nothing is compared only in part: what excluding leads to is really reached."""
    missing = {*OF_VIEWS, "Reclaim a fork", "Forget a child"}
    assert all(any(one.name.startswith(name) for one in compiled_steps()) for name in missing)
    for (world, remote), moves in islice(moments(FEW), 0, None, 29):
        for _, _, action, after in moves:
            state = state_of(world, remote, FEW, after)
            for step in path(world, action, after, FEW):
                [(name, state)] = ways(step, state)
                missing -= {one for one in missing if name.startswith(one)}
        if not missing:
            return
    assert missing == set()


@pytest.mark.parametrize(
    "rule", ["refuses_the_excluded", "waits_until_settled", "children_wait_too", "everybody_settles"]
)
def test_a_model_without_a_rule_takes_other_steps(rule: str) -> None:
    found = (
        disagreement(world, action, after, remote, FEW)
        for (world, remote), moves in moments(FEW, SOUND.without(rule))
        for _, _, action, after in moves
    )
    assert next(one for one in found if one is not None)


def test_a_clause_that_is_lost_is_found_in_a_world() -> None:
    worlds = moments(FEW, SOUND.without("everybody_settles"))
    assert next(lost for (world, remote), _ in worlds if (lost := broken(state_of(world, remote, FEW)))) == [
        "V3",
        "V-cut",
    ]


def test_all_clauses_are_looked_up() -> None:
    wanted = [one.id for one in (*RECLAIMING.invariant, *QUIET.invariant, *RECLAIMING.goals)]
    assert list(checks()) == wanted
    assert {"V1", "V8", "Y25", "U6", "V-cut"} <= {*wanted}
