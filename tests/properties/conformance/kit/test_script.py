"""A story as a program: it drives the adapter by itself, and sees what the kit saw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from farref.properties.conformance.kit.document import Operation
from farref.properties.conformance.kit.script import JUDGED, steps

ROOT = Path(__file__).parents[4]
TOY = ROOT / "tests" / "farref" / "adapters" / "toy.py"
WRONG = TOY.with_name("wrong.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
SPOKEN = ("--", sys.executable, "-m", "farref.properties.conformance.conversation.host", str(WRONG))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=120
    )


def operation(number: int, begun: float, ended: float | None) -> Operation:
    return Operation(
        number=number,
        verb="fetch",
        worker="A",
        to=None,
        text="A fetches x\nand more",
        begun=begun,
        ended=ended,
        outcome="",
        trouble=False,
        request={"worker": "A", "name": "x", "timeout": None},
    )


def program(tmp_path: Path, *words: str) -> Path:
    """Write down the program of what is found."""
    name, text = found(*words)
    path = Path(tmp_path, name)
    path.write_text(text)
    return path


@cache
def found(*words: str) -> tuple[str, str]:
    """Judge a wrong backend by R16, and give the program of what is found: once for all tests."""
    ran = run("-m", "farref", "conform", "--only", "R16", "--runs", "1", "--format", "json", *words)
    (row,) = [row for row in json.loads(ran.stdout)["clauses"] if row["id"] == "R16"]
    (script,) = row["scripts"]
    return script["name"], script["text"]


both = pytest.mark.parametrize("words", [("--backend", str(WRONG)), SPOKEN], ids=["python", "spoken"])


@both
def test_the_program_shows_what_the_kit_saw(words: tuple[str, ...], tmp_path: Path) -> None:
    played = run(str(program(tmp_path, *words)))
    assert played.returncode == 1, played.stderr
    assert "gives '</script><b>8'" in played.stdout
    assert "hangs" not in played.stdout
    assert played.stdout.splitlines()[-2:] == ["stop gives []", "The defect shows at 3"]


@both
def test_the_program_ends_with_0_where_the_defect_is_mended(words: tuple[str, ...], tmp_path: Path) -> None:
    path = program(tmp_path, *words)
    path.write_text(path.read_text().replace(str(WRONG), str(TOY)))
    played = run(str(path))
    assert played.returncode == 0, played.stdout + played.stderr
    assert played.stdout.splitlines()[-1] == "The defect does not show."


@both
@pytest.mark.parametrize("spoilt", ["no adapter", "a verb that raises"])
def test_the_program_ends_with_125_where_nothing_can_be_learnt(
    spoilt: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    path, adapter = program(tmp_path, *words), tmp_path / "spoilt.py"
    if spoilt != "no adapter":
        adapter.write_text(
            f"import sys\nsys.path.insert(0, {str(TOY.parent)!r})\nfrom toy import Toy\n"
            "class Spoilt(Toy):\n    def create(self, *given):\n        raise RuntimeError('not built yet')\n"
        )
    path.write_text(path.read_text().replace(str(WRONG), str(adapter)))
    assert run(str(path)).returncode == 125


@pytest.mark.parametrize(
    ("wanted", "ends", "code"),
    [
        ({"ends": True}, ("hangs", None), 1),
        ({"ends": True}, ("fails", {"kind": "error"}), 0),
        ({"gives": 1}, ("gives", True), 1),
        ({"gives": 1}, ("gives", 1), 0),
        ({"gives": 1}, ("hangs", None), 1),
        ({"succeeds": True}, ("fails", {"kind": "error"}), 1),
        ({"succeeds": True}, ("gives", None), 0),
        ({"fails": ["timeout"]}, ("gives", 7), 1),
        ({"fails": ["timeout"]}, ("fails", {"kind": "error"}), 1),
        ({"fails": ["timeout"]}, ("fails", {"kind": "timeout"}), 0),
        ({"counts": {"owned": 0}}, ("gives", {"owned": 1, "forks": 0}), 1),
        ({"counts": {"owned": 0}}, ("gives", {"owned": 0, "forks": 1}), 0),
        (None, ("gives", {"confirmed": False}), 1),
        (None, ("gives", {"confirmed": True}), 0),
    ],
)
def test_what_was_wanted_decides(wanted: dict[str, object] | None, ends: tuple[str, object], code: int) -> None:
    names: dict[str, Any] = {}
    exec(JUDGED, names)
    ended = SimpleNamespace(number=1, how=ends[0], what=ends[1])
    names["judge"](ended, "gives", "gives {'confirmed': False}", wanted)
    assert names["come_to"]() == code


def test_what_passed_needs_no_program() -> None:
    ran = run("-m", "farref", "conform", "--only", "R20", "--format", "json", "--backend", str(TOY))
    passed = [row["scripts"] for row in json.loads(ran.stdout)["clauses"] if row["verdict"] == "pass"]
    assert passed
    assert not any(passed)


def test_waits_stand_where_operations_ended() -> None:
    story = [operation(1, 0.0, 2.0), operation(2, 0.1, 0.2), operation(3, 1.0, 1.5), operation(4, 3.0, None)]
    told = [line.split("(")[0] if "Operation" in line else line for line in steps(story) if not line.startswith("#")]
    assert told == [
        "o1 = Operation",
        "time.sleep(0.10)",
        "o2 = Operation",
        "wait(o2, ended='gives')",
        "time.sleep(0.80)",
        "o3 = Operation",
        "wait(o3, ended='gives')",
        "wait(o1, ended='gives')",
        "time.sleep(1.00)",
        "o4 = Operation",
        "wait(o4)",
    ]


def test_a_sentence_stays_one_comment() -> None:
    assert "# 1. A fetches x and more" in list(steps([operation(1, 0.0, 0.0)]))
