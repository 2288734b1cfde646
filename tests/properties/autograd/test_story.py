"""Runs of distributed autograd as stories, as files and as drawings."""

from __future__ import annotations

import re
from random import Random

import pytest

from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import TORCH
from farref.model.autograd.world import Bounds
from farref.model.checker import fast
from farref.model.checker.interface import Counterexample
from farref.properties.autograd.claims import CLAIMS
from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.protocol import Claim
from farref.properties.traces.file import decode, encode, record
from farref.rendering.diagram import draw
from tests.model.autograd.play import Play
from tests.model.play import named

HIDDEN = """\
A calls backward(); A engages in pass 1; A tells C: PropagateGradients(pass 1, pair 1); A tells B: \
PropagateGradients(pass 1, pair 3)
C receives PropagateGradients(pass 1, pair 1) from A; C engages in pass 1, and waits for sends 1, 2; C tells A: \
Report(PropagateGradients(pass 1, pair 1))
A receives Report(PropagateGradients(pass 1, pair 1)) from C
B receives PropagateGradients(pass 1, pair 3) from A; B engages in pass 1, and waits for sends 0, 3; B tells A: \
Report(PropagateGradients(pass 1, pair 3))
A receives Report(PropagateGradients(pass 1, pair 3)) from B; pass 1 is at a standstill, and finds out which sends a \
gradient can still come for; A tells B: Seek(pass 1, B); A tells C: Seek(pass 1, C)"""

HIDDEN_RUN = (
    "Backward(A)", "Deliver(PropagateGradients(pass 1, pair 1))", "Deliver(Report(PropagateGradients(pass 1, pair 1)))",
    "Deliver(PropagateGradients(pass 1, pair 3))", "Deliver(Report(PropagateGradients(pass 1, pair 3)))",
)  # fmt: skip

WORLDS = {
    "two returns": Bounds("two-returns", passes=2, drops=2, duplicates=2, timeouts=1, failures=1),
    "smart": Bounds("hidden-path", passes=2, drops=1, duplicates=1, timeouts=1, failures=1, smart=True),
    "release": Bounds("relay", drops=1, timeouts=1, failures=1, detached=1, forward=True, release=True),
    "death": Bounds("relay", crashes=2, drops=1, forward=True, release=True),
    "every": Bounds(workers=2, pairs=1, timeouts=1),
}


def test_a_standstill_word_for_word() -> None:
    model = AutogradModel(Bounds("hidden-path", smart=True))
    assert [
        AUTOGRAD.tell(moment) for moment in AUTOGRAD.replay(model, named(model, *HIDDEN_RUN))
    ] == HIDDEN.splitlines()


@pytest.mark.parametrize("profile", ["sound", "torch"])
@pytest.mark.parametrize("bounds", WORLDS.values(), ids=WORLDS)
def test_every_run_can_be_told(bounds: Bounds, profile: str) -> None:
    rules, random = AUTOGRAD.profiles[profile], Random(0)
    model = AutogradModel(bounds, rules)
    for _ in range(10):
        play, labels = Play("local", rules), list[str]()
        play.model, play.world = model, model.initial
        while len(labels) < 60 and (enabled := play.enabled()):
            labels.append(random.choice(enabled))
            play(labels[-1])
        for moment in AUTOGRAD.replay(model, named(model, *labels)):
            assert moment.worker in {"A", "B", "C", "network", "everyone"}
            assert not re.search(r"None|  |;;|<", AUTOGRAD.tell(moment))


def found(claim: Claim) -> Counterexample:
    counterexample = fast.check(AutogradModel(claim.bounds, TORCH), (claim.property,)).counterexample
    assert counterexample is not None
    return counterexample


WRONG_GRADIENTS = {
    "D4": ["On B the gradient is 6; there should be none."],
    "D5": [
        "On B the gradient is 10010 (10 from pass 1, 10000 from pass 2); it should be 31000, all of it from pass 2."
    ],
}
"""What a reader is told of a gradient that is wrong: what it is, which pass each part is from, and what it should be."""


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_every_claim_is_kept_read_and_drawn(claim: Claim) -> None:
    trace = record(claim.bounds, "torch", None, found(claim))
    assert trace.meaning == " ".join([claim.text, *WRONG_GRADIENTS.get(claim.id, [])])
    assert decode(encode(trace)) == trace
    drawing = draw(trace)
    assert drawing.count("<svg") == 1
    assert f"{claim.id} violated in" in drawing
