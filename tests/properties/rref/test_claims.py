"""Each known defect of PyTorch 2.13 is found under TORCH, as a shortest run, and is absent under SOUND."""

from __future__ import annotations

import pytest

from farref.model.checker import fast
from farref.model.checker.interface import Verdict
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND
from farref.properties.protocol import Claim
from farref.properties.rref.claims import CLAIMS
from tests.properties.rref.known import shortest

SHORTEST = {
    "N1": 12,
    "N1b": 7,
    "N2": 9,
    "N4": 4,
    "N5": 4,
    "N6": 2,
    "N7": 8,
    "N9": 10,
    "N10": 10,
    "N15": 10,
    "F1": 2,
    "F6": 5,
}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_pytorch_breaks_it(claim: Claim) -> None:
    assert len(shortest(claim).actions) == SHORTEST[claim.id]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_the_sound_protocol_keeps_it(claim: Claim) -> None:
    assert fast.check(RRefModel(claim.bounds, SOUND), (claim.property,)).verdict is Verdict.HOLDS


def test_n1_is_the_story_pytorch_users_met() -> None:
    """A creates on B, uses early on B, and C briefly holds a fork: no fault is needed."""
    steps = [str(action) for action in shortest(CLAIMS["N1"]).actions]
    assert steps[0] == "CreateRemote(x0, A)"
    assert {"UserShare(f0, B, Call)", "UserShare(f0, C, Call)"} <= set(steps)
    assert steps.index("Deliver(UserDelete(f2))") < steps.index("FinishFunction(x0)")
