"""The benchmarks' command lines; what they measure is nobody's to assert."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def rpc(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "bench/rpc.py", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_help_names_every_job() -> None:
    done = rpc("--help")
    assert done.returncode == 0
    for job in ("  a  ", "  b  ", "  c  ", "  d  ", "  m  ", "  e  ", "  idle"):
        assert job in done.stdout


@pytest.mark.parametrize("arguments", [("--jobs", "a,x"), ("--rounds", "0")])
def test_bad_input_is_one_line(arguments: tuple[str, ...]) -> None:
    done = rpc(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_bad_input_to_the_bench_of_backward_is_one_line() -> None:
    command = [sys.executable, "bench/backward.py", "--rounds", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_large_arrays_come_back_as_they_were() -> None:
    command = [sys.executable, "bench/large.py", "--sizes", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [line[:18].strip() for line in done.stdout.splitlines()] == ["way", "unix", "unix, in frames", "tcp"]


def test_the_proof_is_compared_with_the_model() -> None:
    command = [sys.executable, "bench/proof.py", "--only", "one fork"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert "3,924 worlds (all)" in first
    assert "no difference" in last
