"""`farref fuzz` and `farref replay`: what they print, what they keep, and what they end with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from farref.model.rref.rules import SOUND
from farref.properties.twin.backend import Backend
from farref.properties.twin.backends.known import BACKENDS
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.zoo.catalogue import RREF_MUTANTS

Farref = Callable[..., Result]
FAULTS = {"reordered", "duplicated", "dropped", "timed_out", "failed"}


CONTRACT = {
    "subject": str,
    "backend": str,
    "schedules": int,
    "steps": int,
    "judged": int,
    "disagreements": int,
    "faults": dict,
    "sometimes": dict,
    "seconds": float,
    "seed": int,
    "trace_hash": str,
    "verdict": str,
    "notes": list,
}
"""What a program may rely on: each key, and what it is."""


@pytest.mark.parametrize(("backend", "schedules"), [("simulated", 120), ("processes", 40), ("model", 120)])
def test_json(farref: Farref, backend: str, schedules: int) -> None:
    words = ("fuzz", "rref", "--backend", backend, "--schedules", str(schedules), "--seed", "4")
    result = farref(*words, "--format", "json", "--quiet")
    answer = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert {key: type(answer[key]) for key in CONTRACT} == CONTRACT
    assert set(answer) == {*CONTRACT, "disagreement"}
    assert (answer["subject"], answer["backend"], answer["seed"]) == ("rref", backend, 4)
    assert (answer["schedules"], answer["disagreements"], answer["verdict"]) == (schedules, 0, "agreed")
    assert (answer["disagreement"], answer["notes"]) == (None, [])
    assert set(answer["faults"]) == FAULTS
    assert all(answer["faults"].values())
    assert set(map(type, answer["sometimes"].values())) == {bool}
    assert any(answer["sometimes"].values())
    assert answer["steps"] > schedules
    assert answer["seconds"] > 0


def test_the_same_seed_gives_the_same_hash_on_every_backend_and_in_several_processes(farref: Farref) -> None:
    def trace_hash(*words: str, seed: int = 4) -> str:
        common = ("fuzz", "rref", "--schedules", "20", "--seed", str(seed), "--format", "json", "--quiet")
        return str(json.loads(farref(*common, *words).stdout)["trace_hash"])

    first = trace_hash()
    assert first == trace_hash()
    assert first == trace_hash("--backend", "model")
    assert first == trace_hash("--backend", "processes")
    assert first == trace_hash("--jobs", "2")
    assert first != trace_hash(seed=5)


def test_pretty(farref: Farref) -> None:
    result = farref("fuzz", "rref", "--schedules", "120", "--seed", "4", "--quiet")
    assert result.exit_code == 0
    assert "120 schedules" in result.stdout
    assert "AGREED" in result.stdout


def test_a_certain_schedule_need_not_have_every_fault(farref: Farref) -> None:
    """Whoever asks for one schedule again wants to see that one."""
    result = farref("fuzz", "rref", "--seed", "7", "--first", "123", "--schedules", "1", "--quiet")
    assert result.exit_code == 0
    assert "AGREED" in result.stdout
    assert "situations" not in result.stdout


def test_the_help_says_that_sizes_are_drawn(farref: Farref) -> None:
    told = " ".join(farref("fuzz", "--help").stdout.split())
    for group in ("both protocols", "rref", "autograd"):
        assert f"Bounds of {group} (drawn for each schedule unless given):" in told
    assert "Number of control messages that the network may lose. [" in told
    assert "Default 3" not in told


def test_a_fault_that_never_happened_is_no_success(farref: Farref) -> None:
    result = farref("fuzz", "rref", "--schedules", "1", "--format", "json", "--quiet")
    answer = json.loads(result.stdout)
    assert result.exit_code == 4
    assert answer["verdict"] == "incomplete"
    assert "never happened" in answer["notes"][0]


def test_a_fault_that_is_not_allowed_is_not_missed(farref: Farref) -> None:
    words = ("--drops", "0", "--duplicates", "0", "--timeouts", "0", "--failures", "0")
    assert farref("fuzz", "rref", "--schedules", "20", *words, "--quiet").exit_code == 0


def let_loose() -> None:
    """Make a mistake in a worker's process."""
    RREF_MUTANTS["creator_is_not_counted"].let_loose()


def mistaken(backend: str) -> Callable[[], Backend]:
    """Give a backend that makes a mistake."""
    if backend == "model":
        return lambda: ModelBackend(SOUND.without("registers_atomically"))
    return lambda: ProcessesBackend(prepare=let_loose)


@pytest.mark.parametrize("backend", ["model", "processes"])
def test_a_disagreement_is_told_the_same_way_on_every_backend(
    farref: Farref, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setitem(BACKENDS["rref"], backend, mistaken(backend))
    path = tmp_path / "run.json"
    words = ("fuzz", "rref", "--backend", backend, "--seconds", "60", "--quiet")
    saved = farref(*words, "--save", str(path))
    assert saved.exit_code == 1
    assert f"See it again: farref replay {path} --backend {backend}" in saved.stdout
    told = [line for line in saved.stdout.splitlines() if line.startswith(f"  {backend}")]
    assert told
    replayed = farref("replay", str(path), "--backend", backend)
    assert replayed.exit_code == 1
    assert all(line in replayed.stdout.splitlines() for line in told)
    monkeypatch.undo()
    assert farref("replay", str(path), "--backend", backend).exit_code == 0, "without the mistake it agrees"


class MadeOnce(ModelBackend):
    """A backend that does not take a step, and of which there is only one."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        if self.made > 1:
            raise OSError("no second one")

    def perform(self, action: object) -> None:
        raise ZeroDivisionError(f"at {action}")


@pytest.mark.parametrize("form", ["pretty", "json"])
def test_a_disagreement_that_cannot_be_shortened_is_told_all_the_same(
    farref: Farref, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(MadeOnce, "made", 0)
    monkeypatch.setitem(BACKENDS["rref"], "model", MadeOnce)
    result = farref("fuzz", "rref", "--backend", "model", "--schedules", "3", "--quiet", "--format", form)
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.stdout
    assert "shrinking stopped (OSError: no second one); there may be a shorter run" in result.stdout


def test_bounds_that_were_given_are_given_again(farref: Farref) -> None:
    bounds = ("--workers", "2", "--no-self-shares")
    with RREF_MUTANTS["creator_is_not_counted"].alive():
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


@pytest.mark.parametrize("backend", ["model", "simulated", "processes"])
def test_of_a_counterexample_the_sound_beginning_is_taken(farref: Farref, saved: Path, backend: str) -> None:
    result = farref("replay", str(saved), "--backend", backend, "--format", "json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (answer["backend"], answer["verdict"]) == (backend, "agreed")
    assert 0 < answer["taken"] < answer["steps"]
