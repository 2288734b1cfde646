"""The examples run, and show what they promise."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from examples.late_owner import LateOwner
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.twin import Disagreement

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


COUNTED = "2 workers counted 18 words; 'a' 3 times\n"
"""What one program says in every place; `tests/impl/test_ray.py` has the third."""


def test_anywhere_on_this_machine() -> None:
    done = run("-m", "examples.anywhere", "launch")
    assert (done.returncode, done.stdout) == (0, COUNTED), done.stderr


def test_anywhere_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARREF_KEY", "a key of the tests")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"
    command = [sys.executable, "-m", "examples.anywhere", "tcp"]
    others = [subprocess.Popen([*command, rank, "3", place], cwd=ROOT) for rank in "12"]
    done = run("-m", "examples.anywhere", "tcp", "0", "3", place)
    assert (done.returncode, done.stdout) == (0, COUNTED), done.stderr
    assert [other.wait(60) for other in others] == [0, 0]


def test_anywhere_with_nonsense() -> None:
    done = run("-m", "examples.anywhere", "nowhere")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


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


# -- programs of PyTorch's tutorials ---------------------------------------------------------------------------------------

PORTED: dict[str, list[str]] = {
    "parameter_server": [f"trainer{rank} found slopes 2.00 and -1.00, height 0.50" for rank in (1, 2)],
    "rnn": ["after 'the' it says: cat sat down the", "the loss fell below a tenth: True"],
    "pipeline": [f"small batches of {size}: loss 0.3921, after 40 steps 0.0156" for size in (4, 8)],
    "batch": [
        "80 updates for 240 calls",
        *(f"trainer{rank} has slope 3.000 and height -2.000" for rank in (1, 2, 3)),
    ],
}
OURS = re.compile(r"farref|FARREF|@function|numpy")
MARK = "  # ported"


@pytest.mark.parametrize("name", PORTED)
def test_a_program_of_a_tutorial_runs(name: str) -> None:
    done = run(f"examples/ported/{name}.py")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert sorted(done.stdout.splitlines()) == PORTED[name]


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "ported").glob("*.py")), ids=lambda path: path.stem)
def test_a_ported_program_is_run_and_marks_what_differs(path: Path) -> None:
    assert path.stem in PORTED
    text = path.read_text()
    code = text[text.index("from __future__") :].splitlines()
    assert not [line for line in code if OURS.search(line) and MARK not in line]
    assert sum(MARK in line for line in code) <= len(code) // 6


# -- a wrong backend ----------------------------------------------------------------------------------------------------


def test_hypothesis_catches_the_late_owner_and_shrinks_it_to_the_shortest_story() -> None:
    found, printed = shrunk()
    assert [str(action) for action in found.actions] == ["CreateRemote(x0, A)", "Deliver(RemoteCall(f0))"]
    assert found.lines == ("model      x0: 1",)
    readme = (ROOT / "README.md").read_text()
    assert "".join(f"{line}\n" for line in printed) in readme, printed
    assert str(found) in readme


def test_fuzz_catches_it_too() -> None:
    done = run("-m", "farref", "fuzz", "rref", "--backend", "examples/late_owner.py", "--quiet")
    assert done.returncode == 1, done.stderr
    assert "Model and LateOwner backend disagree after 2 steps" in done.stdout


def shrunk() -> tuple[Disagreement, list[str]]:
    """Let Hypothesis find and shrink the mistake; give it, and what Hypothesis printed."""
    machine = twin_machine(LateOwner)
    how = settings(
        machine.TestCase.settings,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        print_blob=False,
    )
    with pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(machine, settings=how)
    notes = "\n".join(getattr(caught.value, "__notes__", []))
    return caught.value, [line for line in notes.splitlines() if line.startswith("state")]


# -- adapters -----------------------------------------------------------------------------------------------------------

SOME = ("R16", "R20", "R21", "R23", "R26")


def conform(*words: str) -> dict[str, Any]:
    done = run(
        "-m", "farref", "conform", *(word for one in SOME for word in ("--only", one)), "--format", "json", *words
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.waits
def test_the_adapter_of_managers() -> None:
    place = "examples/adapter_managers.py"
    assert len((ROOT / place).read_text().splitlines()) <= 60
    assert run("-m", "farref", "conform", "--validate-adapter", "--backend", place).returncode == 0
    report = conform("--backend", place)
    assert report["backend"] == "multiprocessing.managers"
    assert {"R16", "R20", "R21", "R26"} <= {row["id"] for row in report["clauses"] if row["verdict"] == "pass"}


@pytest.mark.waits
def test_the_adapter_in_javascript() -> None:
    if shutil.which("node") is None:
        pytest.skip("the adapter in JavaScript is not run: there is no node")
    command = ("--", "node", "examples/adapter.mjs")
    assert run("-m", "farref", "conform", "--validate-adapter", *command).returncode == 0
    report = conform(*command)
    assert report["backend"] == "one event loop"
    assert {"R16", "R20", "R21", "R21.self", "R26"} <= {
        row["id"] for row in report["clauses"] if row["verdict"] == "pass"
    }
