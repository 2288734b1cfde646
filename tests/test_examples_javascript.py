"""The second core, in JavaScript, talks to Python workers over the wire and keeps the clauses."""

from __future__ import annotations

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
