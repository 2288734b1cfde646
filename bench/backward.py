"""Measure backward passes of farref against PyTorch's, in one run: `python bench/backward.py`.

In each round every world does every job once. Ratios are taken inside a round, where all had the same machine, and the table
has the median over the rounds: read the ratios, not the figures. PyTorch is optional; without it there are no ratios to it.

What is wanted: 3 times PyTorch's steps per second in each job, and SMART at most 1.3 times the time of FAST.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
TIMEOUT_S: Final = 300
AIM: Final = 3.0
"""How many times as many steps as PyTorch farref wants to make, in every job."""

Figures = dict[str, float]


def measured(kind: str) -> Figures:
    """Let one world do every job."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-m", "bench.backward_jobs", kind]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True
    )
    return {str(job): float(figure) for job, figure in json.loads(done.stdout).items()}


def ratio(rounds: list[dict[str, Figures]], job: str, one: str, other: str) -> float:
    """How many times as many steps one kind of world makes as another, as the median of all rounds."""
    return statistics.median(figures[one][job] / figures[other][job] for figures in rounds)


def row(rounds: list[dict[str, Figures]], job: str, kinds: list[str]) -> dict[str, object]:
    """Put together what is said of one job."""
    said: dict[str, object] = {"job": job}
    for kind in kinds:
        said[f"{kind}/s"] = round(statistics.median(figures[kind][job] for figures in rounds), 1)
    if "torch" in kinds:
        said["smart x torch"] = round(ratio(rounds, job, "smart", "torch"), 2)
    said["time of smart / fast"] = round(ratio(rounds, job, "fast", "smart"), 2)
    return said


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description="Measure backward passes of farref against PyTorch's.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--format", choices=["pretty", "json"], default="pretty")
    options = parser.parse_args()
    if options.rounds < 1:
        print("bench/backward.py: --rounds is at least 1", file=sys.stderr)
        sys.exit(2)
    kinds = ["smart", "fast"] + (["torch"] if importlib.util.find_spec("torch") else [])
    rounds = []
    for number in range(1, options.rounds + 1):
        print(f"round {number} of {options.rounds}", file=sys.stderr)
        rounds.append({kind: measured(kind) for kind in kinds})
    rows = [row(rounds, job, kinds) for job in rounds[0]["smart"]]
    if options.format == "json":
        print(json.dumps(rows, indent=2))
        return
    for one in rows:
        print("  ".join(f"{name}: {figure}" if name != "job" else f"{figure:22}" for name, figure in one.items()))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
