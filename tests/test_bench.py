"""The benchmarks' command lines; what they measure is nobody's to assert."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

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


def test_many_workers_call_each_other_and_leave() -> None:
    """Everybody calls everybody, also itself; how long it takes is nobody's to assert."""
    command = [sys.executable, "-m", "bench.many", "16"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *figures, last = done.stdout.splitlines()
    assert [line[:34].strip() for line in figures[:3]] == [
        "launch of 16 workers",
        "memory of each, at most",
        "idle CPU of all",
    ]
    assert last.startswith("256 of 256 answers were right")


def test_the_proof_is_compared_with_the_model() -> None:
    command = [sys.executable, "bench/proof.py", "--only", "one fork"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert "3,924 worlds (all)" in first
    assert "no difference" in last


def ratios(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.ratios", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [("--jobs", "a,x"), ("--rounds", "0")])
def test_bad_input_to_the_bench_of_ratios_is_one_line(arguments: tuple[str, ...]) -> None:
    done = ratios(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_ratios_that_were_measured_are_drawn_with_what_they_were_measured_on(tmp_path: Path) -> None:
    row = {"farref": 50.0, "torch": 500.0, "times better": 10.0, "lowest": 8.0, "highest": 11.0, "aim": 12.0}
    rows = [{"figure": "a call, p50 us", **row}, {"figure": "<unusual>", **row, "times better": None}]
    machine = {
        "processor": "a processor", "cores": 2, "system": "a system", "versions": {"torch": "2.13"}, "rounds": 5,
        "busy loops beside it": 0, "load before": 0.5, "load after": 1.5,
    }  # fmt: skip
    (tmp_path / "told.json").write_text(json.dumps({"machine": machine, "rows": rows}))
    done = ratios("--from", str(tmp_path / "told.json"), "--svg", str(tmp_path / "drawn.svg"))
    assert done.returncode == 0, done.stderr
    assert "a call, p50 us" in done.stdout
    drawn = " ".join(ElementTree.parse(tmp_path / "drawn.svg").getroot().itertext())
    for word in ("call, p50 us", "10.0 of 12", "a processor, 2 cores", "torch 2.13", "load 0.5 before and 1.5 after"):
        assert word in drawn
    assert "<unusual>" not in drawn


def test_the_picture_in_the_tree_is_of_the_figures_beside_it(tmp_path: Path) -> None:
    done = ratios("--from", "spec/drawings/ratios.json", "--svg", str(tmp_path / "drawn.svg"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "drawn.svg").read_text() == (ROOT / "spec" / "drawings" / "ratios.svg").read_text()


def test_a_worker_that_dies_or_stands_still_is_noticed_and_nothing_is_lost() -> None:
    """Every answer and every table is judged by the bench itself; how long it takes is nobody's to assert."""
    command = [sys.executable, "-m", "bench.deaths", "--rounds", "1", "--cuts", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5
