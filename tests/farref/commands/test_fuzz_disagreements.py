"""A disagreement that `farref fuzz` finds is told, saved, replayed and drawn, in either protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS, RREF_MUTANTS
from farref.properties.zoo.mutants.mutant import Mutant
from tests.farref.conftest import Farref

MISTAKES = {
    "rref": (RREF_MUTANTS["failed_creation_confirms_nobody"], "A asks B to run a function", "--workers"),
    "autograd": (AUTOGRAD_MUTANTS["a_pass_overwrites_another"], "calls backward()", "--graph"),
}
"""A mistake in each protocol, what its story tells, and what says how large its world is."""


@pytest.mark.parametrize(("protocol", "mutant", "told", "bound"), [(name, *how) for name, how in MISTAKES.items()])
def test_a_disagreement_is_told_and_can_be_seen_again(
    farref: Farref, tmp_path: Path, protocol: str, mutant: Mutant, told: str, bound: str
) -> None:
    path, fuzz = tmp_path / "run.json", ("fuzz", protocol, "--seed", "1", "--seconds", "60", "--quiet")
    with mutant.alive():
        result = farref(*fuzz, "--format", "json")
        answer = json.loads(result.stdout)
        found = answer["disagreement"]
        again = farref(*found["replay"].split()[1:], "--quiet")
        saved = farref(*fuzz, "--save", str(path))
        replayed = farref("replay", str(path), "--format", "json")
    assert (result.exit_code, again.exit_code, saved.exit_code, replayed.exit_code) == (1, 1, 1, 1)
    assert (answer["verdict"], answer["disagreements"]) == ("disagreed", 1)
    assert found["replay"].startswith(f"farref fuzz {protocol} --backend simulated --seed 1 --first ")
    assert bound in found["world"]
    assert any(told in sentence for sentence in found["story"])
    assert any(line.startswith("simulated") for line in found["difference"])
    assert f"farref replay {path} --backend simulated" in saved.stdout
    assert json.loads(replayed.stdout)["difference"] == found["difference"]
    for backend in ("simulated", "model", "processes"):
        assert farref("replay", str(path), "--backend", backend).exit_code == 0, "the clean implementation agrees"
    assert farref("explain", str(path), "-o", str(tmp_path / "run.svg")).exit_code == 0
