"""`farref fuzz --backend mine.py`: a backend of one's own is driven, saved and replayed; what is wrong with it is one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Farref = Callable[..., Result]

HEAD = "from farref.properties.twin.own import OwnBackend\nfrom farref.properties.twin.backends.model import ModelBackend\n"
HONEST = f"{HEAD}class Mine(ModelBackend):\n    protocol = 'rref'\n"
WRONG = f"{HONEST}    def perform(self, action):\n        1 / (str(action) != 'LetGo(f0)')\n        super().perform(action)\n"
PARTIAL = f"{HEAD}class Mine(OwnBackend):\n    protocol = 'rref'\n    def start(self, bounds): pass\n"


@pytest.fixture
def mine(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Write a file with a backend; each has a name of its own, as modules are kept by name."""

    def written(text: str) -> str:
        place = tmp_path / f"mine_{abs(hash(request.node.name))}.py"
        place.write_text(text)
        return str(place)

    return written


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_honest_one_agrees(farref: Farref, mine: Callable[[str], str], jobs: str) -> None:
    place = mine(HONEST)
    words = ("--schedules", "30", "--jobs", jobs, "--format", "json", "--quiet")
    own = json.loads(farref("fuzz", "rref", "--backend", place, *words).stdout)
    known = json.loads(farref("fuzz", "rref", "--backend", "model", *words).stdout)
    assert (own["backend"], own["disagreements"]) == (place, 0)
    assert own["trace_hash"] == known["trace_hash"]


@pytest.mark.parametrize("ending", ["", ":Mine"])
def test_a_wrong_one_is_saved_and_replayed(
    farref: Farref, mine: Callable[[str], str], tmp_path: Path, ending: str
) -> None:
    place, found = mine(WRONG) + ending, str(tmp_path / "found.json")
    fuzzed = farref("fuzz", "rref", "--backend", place, "--quiet", "--save", found)
    assert fuzzed.exit_code == 1
    assert f"farref replay {found} --backend {place}" in fuzzed.stdout
    replayed = farref("replay", found, "--backend", place)
    assert replayed.exit_code == 1
    explained = farref("explain", found)
    for page in (fuzzed, replayed, explained):
        assert "model does not take it: ZeroDivisionError" in page.stdout
    assert "What differed when it was saved, on the model backend:" in explained.stdout
    clean = farref("replay", found)
    assert clean.exit_code == 0, "the implementation takes it"
    assert "What differed when it was saved" in clean.stdout
    assert json.loads(farref("replay", found, "--format", "json").stdout)["differed"]["difference"]


def test_a_class_of_a_module(farref: Farref) -> None:
    place = "farref.properties.twin.backends.rref.simulated:SimulatedBackend"
    assert farref("fuzz", "rref", "--backend", place, "--schedules", "60", "--quiet").exit_code == 0


def test_the_bounds_that_it_fixes_are_fixed(farref: Farref, mine: Callable[[str], str]) -> None:
    place = mine(f"{HONEST}    fixed = {{'failures': 0, 'workers': 2}}\n")
    result = farref("fuzz", "rref", "--backend", place, "--schedules", "60", "--quiet", "--format", "json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["faults"]["failed"]) == (0, 0)


BAD = {
    "a syntax error": ("class Mine(:\n", "cannot be imported: SyntaxError"),
    "an error": ("1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero"),
    "an exit": ("raise SystemExit(3)\n", "cannot be imported: SystemExit: 3"),
    "no class": ("x = 1\n", "has no class with a method `perform`; write one, and derive it from"),
    "two classes": (f"{HONEST}class Other(Mine): pass\n", "has several backends, Mine, Other; say"),
    "no method": (f"{PARTIAL}    def perform(self, action): pass\n", "Mine is not a backend, it lacks observe"),
    "not derived": ("class Mine:\n    def perform(self, action): pass\n", "it lacks start, attempt, observe, close"),
    "another protocol": (f"{HEAD}class Mine(ModelBackend):\n    protocol = 'autograd'\n", "speaks autograd; not rref"),
    "no protocol": (
        f"{HEAD}class Mine(ModelBackend):\n    protocol = 'http'\n",
        "speaks http; known are rref, autograd",
    ),
    "an unknown bound": (
        f"{HONEST}    fixed = {{'failure': 0}}\n",
        "fixed names 'failure'; the bounds of rref are workers",
    ),
    "a wrong bound": (f"{HONEST}    fixed = {{'workers': 99}}\n", "workers is 99; allowed is 2 to 8"),
    "no instance": (f"{HONEST}    def __init__(self): raise OSError('no')\n", "Mine() fails: OSError: no"),
    "no start": (f"{HONEST}    def start(self, bounds): raise OSError('no')\n", "fails: OSError: no"),
}


@pytest.mark.parametrize(("text", "told"), BAD.values(), ids=BAD)
def test_whatever_is_wrong_is_told_in_one_line(
    farref: Farref, mine: Callable[[str], str], text: str, told: str
) -> None:
    place = mine(text)
    result = farref("fuzz", "rref", "--backend", place, "--schedules", "3", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert told in result.stderr
    assert "Traceback" not in result.stderr


PLACES = {
    "no/such/file.py": "no/such/file.py is not a file",
    "no.such.module:Mine": "no.such.module cannot be imported: ModuleNotFoundError",
    "farref.words:Mine": "nothing is called 'Mine' there",
    "farref.words:visible": "no class is called 'visible' there",
    "mine": "rref has no backend 'mine'; there are 'model', 'simulated', 'processes', 'storm', a file.py, a file.py:Class",
}


@pytest.mark.parametrize(("place", "told"), PLACES.items())
def test_a_place_where_there_is_none(farref: Farref, place: str, told: str) -> None:
    result = farref("fuzz", "rref", "--backend", place, "--schedules", "3", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert told in result.stderr
