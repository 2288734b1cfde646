"""Each known defect of PyTorch's distributed autograd is found under TORCH, as a shortest run, and is absent under SOUND."""

from __future__ import annotations

import pytest

from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import SOUND, TORCH
from farref.model.checker import fast
from farref.model.checker.interface import Verdict
from farref.properties.autograd.claims import CLAIMS
from farref.properties.protocol import Claim

SHORTEST = {"D1": 1, "D2": 4, "D3": 4, "D4": 3, "D5": 8, "D6": 5, "D7": 6, "D8": 2, "D9": 2}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_pytorch_breaks_it(claim: Claim) -> None:
    found = fast.check(AutogradModel(claim.bounds, TORCH), (claim.property,)).counterexample
    assert found is not None
    assert len(found.actions) == SHORTEST[claim.id]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_the_sound_protocol_keeps_it(claim: Claim) -> None:
    assert fast.check(AutogradModel(claim.bounds, SOUND), (claim.property,)).verdict is Verdict.HOLDS
