"""Worlds in which a property of distributed autograd once was wrong about the sound protocol."""

from __future__ import annotations

import pytest

from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import SOUND
from farref.model.autograd.world import Bounds
from farref.model.checker import fast
from farref.model.checker.interface import Verdict
from farref.properties.autograd.always import autograd_properties

ONCE_WRONG = {
    "T1, when the sends are gone that FAST named": Bounds("AB BA BA: A>r1 s1>r0 s2>r0 s0>A", release=True),
    "L6, when the context is forgotten because its creator died": Bounds("CB: B>r0 s0>C", crashes=1),
}


@pytest.mark.parametrize("bounds", ONCE_WRONG.values(), ids=ONCE_WRONG)
def test_the_sound_protocol_keeps_its_properties(bounds: Bounds) -> None:
    result = fast.check(AutogradModel(bounds, SOUND), autograd_properties(bounds))
    assert result.verdict is Verdict.HOLDS, result.counterexamples
