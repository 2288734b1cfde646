"""The second core, in JavaScript, talks to Python workers over the wire and keeps the clauses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None, reason="workers in JavaScript are not run: there is no node"
)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def test_python_and_javascript_in_one_world() -> None:
    done = run("examples/javascript/mixed.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said.pop("back to their owners").startswith("7 OwnerRRef")
    assert said == {
        "values": "True",
        "array": "True",
        "there and back": "5",
        "error": "ValueError on script in js:fail: no",
        "owned by js": "7 7",
        "py to js to snake": "42",
        "py to js to script": "21",
        "made by script on snake": "9",
        "nothing is left": "True",
        "left in order": "True [0, 0, 0]",
    }


# One check for each part: values, retries, copies, sharing, early use, deletion, failures, leaving and deaths. The
# whole is a command, `farref conform -- node examples/javascript/adapter.mjs`, and takes some minutes, most of them waiting.
SOME = (
    "R4.unharmed",
    "R6.accept",
    "R7.delete",
    "R17",
    "R19.self",
    "R21.overtaken",
    "R26.twice",
    "R28.owner",
    "R29.cargo",
    "R32.held",
    "R34.call",
)


def test_its_adapter_conforms() -> None:
    checks = [word for one in SOME for word in ("--only", one)]
    done = run("-m", "farref", "conform", *checks, "--format", "json", "--", "node", "examples/javascript/adapter.mjs")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["backend"] == "JavaScript workers"
    assert {row["id"] for row in report["clauses"] if row["verdict"] == "pass"} >= set(SOME)


def test_its_adapter_speaks_the_protocol() -> None:
    done = run("-m", "farref", "conform", "--validate-adapter", "--", "node", "examples/javascript/adapter.mjs")
    assert done.returncode == 0, done.stdout + done.stderr
