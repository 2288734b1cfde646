"""Without what only Linux has, everything but the processes of `farref.impl` works, and those say what they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
ELSEWHERE: Final = """
import fcntl, os, select, socket, sys
only_here = "epoll", "eventfd", "efd_", "memfd_", "mfd_", "pidfd_", "f_seal", "f_add_seals", "so_peercred"
for module in (fcntl, os, select, socket):
    for name in [name for name in vars(module) if name.lower().startswith(only_here)]:
        delattr(module, name)
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ELSEWHERE + program, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("asked", ["check rref --workers 2 --forks 2 --quiet", "spec R1", "doctor", "--help"])
def test_commands_that_need_no_processes_work(asked: str) -> None:
    done = run("from farref.__main__ import main\nsys.exit(main())", *asked.split())
    assert (done.returncode, done.stderr) == (0, "")


def test_a_world_says_what_it_needs() -> None:
    done = run("from farref.impl import launch\nwith launch(1): pass")
    assert done.returncode == 1
    assert "RpcError: farref.impl needs Linux" in done.stderr
