"""What properties of distributed autograd must see, and worlds in which one once was wrong about the sound protocol."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from farref.model.autograd.actions import Action
from farref.model.autograd.messages import Fault
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import SOUND
from farref.model.autograd.world import Bounds, World
from farref.model.checker import fast, reference
from farref.model.checker.interface import Verdict
from farref.properties.autograd.always import autograd_properties
from farref.properties.autograd.observer import ModelObserver
from farref.properties.autograd.visible import model_truth, visible
from tests.model.autograd.play import Play

ONCE_WRONG = {
    "T1, when the sends are gone that FAST named": Bounds("AB BA BA: A>r1 s1>r0 s2>r0 s0>A", release=True),
    "L6, when the context is forgotten because its creator died": Bounds("CB: B>r0 s0>C", crashes=1),
}


@pytest.mark.parametrize("bounds", ONCE_WRONG.values(), ids=ONCE_WRONG)
def test_the_sound_protocol_keeps_its_properties(bounds: Bounds) -> None:
    result = fast.check(AutogradModel(bounds, SOUND), autograd_properties(bounds))
    assert result.verdict is Verdict.HOLDS, result.counterexamples


class BlamesItsRoot(AutogradModel):
    """A FAST pass that cannot end blames the worker that called `backward`, not the one whose send gets no gradient."""

    def step(self, state: World, action: Action) -> World | None:
        after = super().step(state, action)
        if after is None:
            return None
        passes = [one._replace(blamed=one.root) if one.fault is Fault.UNREACHED else one for one in after.passes]
        return after._replace(passes=type(after.passes)(passes))


def test_T1_an_error_that_names_another_worker_is_seen() -> None:
    bounds = Bounds("unused-result")
    assert fast.check(AutogradModel(bounds), autograd_properties(bounds)).verdict is Verdict.HOLDS
    result = reference.check(BlamesItsRoot(bounds), autograd_properties(bounds))
    assert [name for name, verdict in result.verdicts.items() if verdict is Verdict.VIOLATED] == ["T1"]


def test_T1_an_implementation_that_names_another_send_is_seen() -> None:
    play = Play("unused-result")("Backward(A)").finish()
    seen, truth = ModelObserver(play.model.bounds).observe(play.world), model_truth(play.world, play.model.bounds)
    assert visible(seen, truth, ["pass 1"]) == []
    [failed] = seen.passes
    assert failed.unreached == (1,)
    wrong = replace(seen, passes=(replace(failed, unreached=(0,)),))
    assert [one.property for one in visible(wrong, truth, ["pass 1"])] == ["T1"]
