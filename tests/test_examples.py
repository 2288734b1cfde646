"""The examples run, and show what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def test_two_workers() -> None:
    done = run("examples/two_workers.py")
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"(\w+): (.*) far, (.*) near", done.stdout)
    assert [name for name, _, _ in lines] == ["a", "b", "scale"]
    assert all(far == near for _, far, near in lines)


def test_model_parallel() -> None:
    done = run("examples/model_parallel.py", "60")
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", done.stdout)]
    assert losses[-1] < losses[0] / 4
    assert "to the last bit: True" in done.stdout


def test_model_parallel_with_nonsense() -> None:
    done = run("examples/model_parallel.py", "many")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
