"""`farref fuzz rref --backend storm`: what it says, saves and takes again."""

from __future__ import annotations

import json
from pathlib import Path

from farref.properties.twin.backends.rref.storm.situations import SITUATIONS
from farref.properties.zoo.catalogue import STORM_MUTANTS
from tests.farref.conftest import Farref


def test_what_is_found_is_shortened_saved_and_taken_again(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "storm.json"
    words = ("fuzz", "rref", "--backend", "storm", "--seed", "1", "--schedules", "60", "--quiet", "--save", str(path))
    with STORM_MUTANTS["one_fork_of_a_failed_message_is_withdrawn"].alive():
        result = farref(*words)
        again = farref("replay", str(path), "--format", "json")
    assert result.exit_code == 1
    assert "The storm backend is wrong after" in result.stdout
    assert f"farref replay {path}" in result.stdout.replace("\n", "")
    answer = json.loads(again.stdout)
    assert (again.exit_code, answer["verdict"]) == (1, "disagreed")
    assert 0 < answer["taken"] == answer["steps"] == len(answer["story"])
    assert answer["difference"]
    clean = farref("replay", str(path))
    assert (clean.exit_code, "AGREED: storm backend" in clean.stdout) == (0, True)


def test_it_says_what_was_drawn(farref: Farref) -> None:
    words = ("fuzz", "rref", "--backend", "storm", "--seed", "1", "--first", "0", "--schedules", "10", "--quiet")
    assert "several forks in one message" in farref(*words).stdout
    answer = json.loads(farref(*words, "--format", "json").stdout)
    assert answer["verdict"] == "agreed"
    assert set(answer["drawn"]) == set(SITUATIONS)


def test_the_same_seed_gives_the_same_hash_in_several_processes(farref: Farref) -> None:
    words = ("fuzz", "rref", "--backend", "storm", "--schedules", "20", "--first", "0", "--format", "json", "--quiet")
    hashes = [json.loads(farref(*words, *more).stdout)["trace_hash"] for more in ((), ("--jobs", "2"), ("--seed", "5"))]
    assert hashes[0] == hashes[1] != hashes[2]
