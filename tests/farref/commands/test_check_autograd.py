"""`farref check autograd`: the contracts of `farref check rref`, for distributed autograd."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.generated import farref

pytestmark = pytest.mark.long

STATES = {
    "every graph, FAST": 445,
    "every graph, SMART": 451,
    "there and back": 10_135,
    "diamond": 65_428,
    "unused result": 674,
    "half used": 79_044,
    "hidden path": 2_135,
    "two starters": 15_793,
    "relay": 86_493,
    "two returns": 118_184,
    "forward and release": 7_079,
    "a worker dies": 2_377,
    "a root dies": 715,
    "the creator dies": 913,
    "a farewell": 1_573,
    "a worker dies, released": 23_448,
    "two passes, released": 12_033,
    "a worker dies among faults": 62_671,
    "a worker dies, detached": 741,
    "relay, released": 5_052,
    "a worker is excluded": 27_836,
    "a root is excluded": 4_225,
    "links break among members": 4_876,
    "a farewell among members": 19_994,
    "a worker is excluded, released": 77_854,
    "every loss": 51_616,
}


def test_sound_holds_and_everything_in_it_happens() -> None:
    answer = json.loads(farref("check", "autograd", "--format", "json", "--quiet", exit_code=0))
    runs = answer["configurations"]
    assert answer["subject"] == "autograd"
    assert {run["name"]: run["distinct"] for run in runs} == STATES
    assert {run["verdict"] for run in runs} == {one["verdict"] for one in answer["properties"]} == {"holds"}
    assert answer["never_fired"] == []
    assert None not in answer["witnesses"].values()
    assert answer["bounds"]["graph"].startswith("every, unused-result")


def test_a_counterexample_is_kept_and_explained(tmp_path: Path) -> None:
    kept, drawn = str(tmp_path / "d5.json"), tmp_path / "d5.svg"
    asked = ("check", "autograd", "--profile", "torch", "--claim", "d5", "--format", "json", "--quiet", "--save", kept)
    answer = json.loads(farref(*asked, exit_code=1))["counterexample"]
    assert answer["replay"] == "farref check autograd --profile torch --claim D5"
    told = farref("explain", kept, "-o", str(drawn), exit_code=0)
    assert "pass 2 has ended well" in told
    assert drawn.read_text().startswith("<svg")


def test_the_command_that_shows_it_again_does() -> None:
    asked = "check autograd --profile torch --graph diamond --passes 2 --timeouts 1 --format json --quiet"
    one = json.loads(farref(*asked.split(), exit_code=1))["counterexample"]
    again = json.loads(farref(*one["replay"].split()[1:], "--format", "json", "--quiet", exit_code=1))["counterexample"]
    assert again == one


def test_both_of_our_engines_agree_on_one_graph() -> None:
    asked = "check autograd --graph half-used --smart --timeouts 1 --format json --quiet"
    fast, reference = (
        json.loads(farref(*asked.split(), "--engine", name, exit_code=0)) for name in ("fast", "reference")
    )
    assert [fast[name] for name in ("distinct", "generated", "depth", "verdict")] == [
        reference[name] for name in ("distinct", "generated", "depth", "verdict")
    ]


def test_a_clause_can_be_read() -> None:
    assert "passes_have_identity" in farref("spec", "a12", exit_code=0)


def test_bounds_are_told_in_words() -> None:
    told = farref("check", "autograd", "--workers", "2", "--crashes", "1", "--quiet", exit_code=0)
    assert "2 workers, 1 pair, 1 pass, 1 crash " in told
