"""`farref fuzz autograd` and `farref replay` of its runs: the contracts of the commands for RRefs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.farref.commands.test_fuzz import CONTRACT
from tests.farref.commands.test_fuzz import FAULTS as RREF_FAULTS

Farref = Callable[..., Result]
FAULTS = {*RREF_FAULTS, "died"}
LONG = " ".join(["AB BA"] * 6) + ": A>r11 " + " ".join(f"s{pair}>r{pair - 1}" for pair in range(11, 0, -1)) + " s0>A"
"""A program whose gradient is the product of the first 13 primes."""


@pytest.mark.parametrize(("backend", "schedules"), [("simulated", 120), ("processes", 40), ("model", 120)])
def test_json_keeps_its_contract(farref: Farref, backend: str, schedules: int) -> None:
    words = ("fuzz", "autograd", "--backend", backend, "--schedules", str(schedules), "--seed", "4")
    result = farref(*words, "--format", "json", "--quiet")
    answer = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert {key: type(answer[key]) for key in CONTRACT} == CONTRACT
    assert set(answer) == {*CONTRACT, "disagreement"}
    assert (answer["subject"], answer["backend"], answer["seed"]) == ("autograd", backend, 4)
    assert (answer["schedules"], answer["disagreements"], answer["verdict"]) == (schedules, 0, "agreed")
    assert set(answer["faults"]) == FAULTS
    assert all(answer["faults"].values())
    assert any(answer["sometimes"].values())
    assert answer["steps"] > schedules


@pytest.mark.waits
def test_a_storm_keeps_the_contract_too(farref: Farref) -> None:
    words = ("fuzz", "autograd", "--backend", "storm", "--schedules", "30", "--seed", "1", "--quiet")
    result = farref(*words, "--format", "json")
    answer = json.loads(result.stdout)
    assert {key: type(answer[key]) for key in CONTRACT} == CONTRACT
    assert (answer["backend"], answer["schedules"], answer["verdict"]) == ("storm", 30, "agreed"), answer
    assert [fault for fault, number in answer["faults"].items() if not number] == ["died"]


def test_the_same_seed_gives_the_same_hash_on_every_backend_and_in_several_processes(farref: Farref) -> None:
    def trace_hash(*words: str, seed: int = 4) -> str:
        common = ("fuzz", "autograd", "--schedules", "12", "--seed", str(seed), "--format", "json", "--quiet")
        return str(json.loads(farref(*common, *words).stdout)["trace_hash"])

    first = trace_hash()
    assert first == trace_hash("--backend", "model")
    assert first == trace_hash("--backend", "processes")
    assert first == trace_hash("--jobs", "2")
    assert first != trace_hash(seed=5)


def test_a_fault_that_never_happened_is_no_success(farref: Farref) -> None:
    result = farref("fuzz", "autograd", "--schedules", "1", "--format", "json", "--quiet")
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (4, "incomplete")
    calm = ("--drops", "0", "--duplicates", "0", "--timeouts", "0", "--failures", "0", "--crashes", "0")
    assert farref("fuzz", "autograd", "--schedules", "20", *calm, "--quiet").exit_code == 0


@pytest.mark.parametrize("claim", ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9"])
def test_of_a_counterexample_the_sound_beginning_is_taken(farref: Farref, tmp_path: Path, claim: str) -> None:
    path = tmp_path / "run.json"
    words = ("check", "autograd", "--profile", "torch", "--claim", claim, "--quiet", "--save", str(path))
    assert farref(*words).exit_code == 1
    answer = json.loads(farref("replay", str(path), "--format", "json").stdout)
    assert answer["verdict"] == "agreed"
    assert 0 < answer["taken"] <= answer["steps"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--graph", "every"), "one graph"),
        (("--graph", "chain", "--pairs", "1"), "its own workers and pairs"),
        (("--graph", "chain", "--release"), "whom nobody has called"),
        (("--graph", "AB BA: A>r1 s0>r1"), "received later"),
        (("--detached", "1", "--no-forward"), "add --forward"),
        (("--forks", "2"), "is not a bound of autograd"),
        (("--backend", "storm", "--save", "run.json"), "no steps to save"),
        (("--pairs", "13"), "from 0 to 12"),
        (("--graph", LONG), "outgrow"),
    ],
)
def test_wrong_words(farref: Farref, words: tuple[str, ...], said: str) -> None:
    result = farref("fuzz", "autograd", *words)
    assert result.exit_code == 2
    assert said in result.stderr
