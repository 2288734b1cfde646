"""A story as a program: it drives the adapter by itself, and sees what the kit saw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from farref.properties.conformance.kit.document import Operation
from farref.properties.conformance.kit.script import steps

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


@pytest.mark.parametrize("words", [("--backend", str(WRONG)), SPOKEN], ids=["python", "spoken"])
def test_the_program_shows_what_the_kit_saw(words: tuple[str, ...], tmp_path: Path) -> None:
    ran = run("-m", "farref", "conform", "--only", "R16", "--runs", "1", "--format", "json", *words)
    (row,) = [row for row in json.loads(ran.stdout)["clauses"] if row["id"] == "R16"]
    (script,) = row["scripts"]
    path = tmp_path / script["name"]
    path.write_text(script["text"])
    played = run(str(path))
    assert played.returncode in (0, -9), played.stderr
    assert "gives '</script><b>8'" in played.stdout
    assert "HANGS" not in played.stdout
    assert played.stdout.splitlines()[-1] == "stop gives []"


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
        "wait(o2)",
        "time.sleep(0.80)",
        "o3 = Operation",
        "wait(o3)",
        "wait(o1)",
        "time.sleep(1.00)",
        "o4 = Operation",
        "wait(o4)",
    ]


def test_a_sentence_stays_one_comment() -> None:
    assert "# 1. A fetches x and more" in list(steps([operation(1, 0.0, 0.0)]))
