"""`farref fuzz` and `farref replay`: what they print, what they keep, and what they end with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from farref.properties.backends.zoo import ZOO

Farref = Callable[..., Result]
FAULTS = {"reordered", "duplicated", "dropped", "timed_out", "failed"}


def test_json(farref: Farref) -> None:
    words = (
        "fuzz",
        "rref",
        "--backend",
        "simulated",
        "--schedules",
        "120",
        "--seed",
        "4",
        "--format",
        "json",
        "--quiet",
    )
    first, again = farref(*words), farref(*words)
    answer = json.loads(first.stdout)
    assert (first.exit_code, first.stderr) == (0, "")
    assert (answer["subject"], answer["backend"], answer["seed"]) == ("rref", "simulated", 4)
    assert (answer["schedules"], answer["disagreements"], answer["verdict"]) == (120, 0, "agreed")
    assert set(answer["faults"]) == FAULTS
    assert all(answer["faults"].values())
    assert any(answer["sometimes"].values())
    assert answer["steps"] > 120
    assert answer["seconds"] > 0
    assert answer["trace_hash"] == json.loads(again.stdout)["trace_hash"]


def test_pretty(farref: Farref) -> None:
    result = farref("fuzz", "rref", "--schedules", "120", "--seed", "4", "--quiet")
    assert result.exit_code == 0
    assert "120 schedules" in result.stdout
    assert "AGREED" in result.stdout


def test_a_fault_that_never_happened_is_no_success(farref: Farref) -> None:
    result = farref("fuzz", "rref", "--schedules", "1", "--format", "json", "--quiet")
    answer = json.loads(result.stdout)
    assert result.exit_code == 4
    assert answer["verdict"] == "incomplete"
    assert "never happened" in answer["notes"][0]


def test_a_fault_that_is_not_allowed_is_not_missed(farref: Farref) -> None:
    words = ("--drops", "0", "--duplicates", "0", "--timeouts", "0", "--failures", "0")
    assert farref("fuzz", "rref", "--schedules", "20", *words, "--quiet").exit_code == 0


def test_a_disagreement_is_told_and_can_be_seen_again(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with ZOO["failed_creation_confirms_nobody"].alive():
        result = farref("fuzz", "rref", "--seed", "1", "--seconds", "60", "--quiet", "--format", "json")
        again = farref(*json.loads(result.stdout)["disagreement"]["replay"].split()[1:], "--quiet")
        saved = farref("fuzz", "rref", "--seed", "1", "--seconds", "60", "--quiet", "--save", str(path))
        replayed = farref("replay", str(path), "--format", "json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, again.exit_code, saved.exit_code, replayed.exit_code) == (1, 1, 1, 1)
    assert (answer["verdict"], answer["disagreements"]) == ("disagreed", 1)
    assert answer["disagreement"]["story"][0].startswith("A asks B to run a function")
    assert any(line.startswith("simulated") for line in answer["disagreement"]["difference"])
    assert f"farref replay {path} --backend simulated" in saved.stdout
    assert json.loads(replayed.stdout)["difference"] == answer["disagreement"]["difference"]
    assert farref("replay", str(path)).exit_code == 0, "the clean implementation agrees"
    assert farref("replay", str(path), "--backend", "model").exit_code == 0
    assert farref("explain", str(path), "-o", str(tmp_path / "run.svg")).exit_code == 0


def test_bounds_that_were_given_are_given_again(farref: Farref) -> None:
    bounds = ("--workers", "2", "--no-self-shares")
    with ZOO["creator_is_not_counted"].alive():
        result = farref("fuzz", "rref", *bounds, "--quiet", "--format", "json")
        command = json.loads(result.stdout)["disagreement"]["replay"]
        again = farref(*command.split()[1:], "--quiet", "--format", "json")
    assert command.endswith("--schedules 1 --workers 2 --no-self-shares")
    assert json.loads(again.stdout)["disagreement"] == json.loads(result.stdout)["disagreement"]


def test_nothing_is_saved_where_nothing_disagrees(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    result = farref("fuzz", "rref", "--schedules", "100", "--quiet", "--save", str(path))
    assert "was not written" in result.stderr
    assert not path.exists()


@pytest.mark.parametrize("backend", ["model", "simulated"])
def test_of_a_counterexample_the_sound_beginning_is_taken(farref: Farref, saved: Path, backend: str) -> None:
    result = farref("replay", str(saved), "--backend", backend, "--format", "json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (answer["backend"], answer["verdict"]) == (backend, "agreed")
    assert 0 < answer["taken"] < answer["steps"]
