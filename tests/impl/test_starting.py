"""Workers begin as forks of a server, and are the same workers as those that begin as fresh interpreters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from farref.impl import launch, rpc_sync
from tests.impl.far import surroundings as far

ROOT = Path(__file__).parents[2]

LOUD = """
import sys
sys.path.insert(0, {root!r})
from farref.impl import launch
print(__name__, flush=True)
if __name__ == "__main__":
    for _ in range(2):
        with launch(2):
            pass
"""

TWO_WORLDS = """
import os, sys
sys.path.insert(0, {root!r})
from farref.impl import launch, rpc_sync
if __name__ == "__main__":
    from {far} import parent
    print(os.getpid())
    for _ in range(2):
        with launch(2, allow=[{far!r}]):
            for worker in (1, 2):
                print(rpc_sync(worker, parent))
"""


def test_workers_of_two_worlds_are_forks_of_one_server(tmp_path: Path) -> None:
    script = (
        tmp_path / "two_worlds.py"
    )  # a driver of its own: here the environment may have changed since the server began
    script.write_text(TWO_WORLDS.format(root=str(ROOT), far=far.__name__))
    told = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    driver, *parents = told.stdout.split()
    assert len(parents) == 4
    assert len(set(parents)) == 1
    assert driver not in parents


def test_an_environment_that_has_changed_is_that_of_the_workers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with launch(1):
        pass
    monkeypatch.setenv("FARREF_SURROUNDINGS", "changed")
    with launch(1, allow=[far.__name__]):
        assert rpc_sync(1, far.variable, ["FARREF_SURROUNDINGS"]) == "changed"


def test_workers_write_to_where_their_driver_writes_now(capfd: pytest.CaptureFixture[str]) -> None:
    with launch(1, allow=[far.__name__]):
        rpc_sync(1, far.say, ["here I am"])
    assert "here I am" in capfd.readouterr().err


def test_two_workers_draw_different_random_numbers() -> None:
    with launch(2, allow=[far.__name__]):
        assert rpc_sync(1, far.drawn) != rpc_sync(2, far.drawn)


def test_the_main_module_is_read_once_by_each_worker_and_by_nobody_else(tmp_path: Path) -> None:
    script = tmp_path / "loud.py"
    script.write_text(LOUD.format(root=str(ROOT)))
    told = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.count("__main__") == 1
    assert told.stdout.count("__mp_main__") == 4
    assert told.stderr == ""
