"""Without what only Linux has, everything but the processes of `farref.impl` works, and those say what they need.

What others may not have is taken away before farref is imported, in processes that are started for it too.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from farref.impl.settings import NEEDED
from farref.model.checker.run import peak_mb
from farref.properties.work.cluster import cores
from farref.terminal.exits import HARNESS

ROOT: Final = Path(__file__).parents[2]
ELSEWHERE: Final = """
import fcntl, mmap, os, resource, select, signal, socket, sys
ONLY_HERE = (
    "epoll", "eventfd", "efd_", "memfd_", "mfd_", "pidfd_", "p_pidfd", "f_seal", "f_add_seals", "f_setpipe", "so_peercred",
    "so_passcred", "sched_getaffinity", "sched_setaffinity", "getrandom", "posix_fadvise", "posix_fallocate", "copy_file_range",
    "splice", "o_tmpfile", "o_path", "o_direct", "sock_cloexec", "sock_nonblock", "tcp_quickack", "tcp_user_timeout", "prlimit",
    "sigtimedwait", "sigwaitinfo", "map_populate", "setns", "unshare", "preadv2", "pipe2", "msg_more", "msg_nosignal",
)
for module in (fcntl, mmap, os, resource, select, signal, socket):
    for name in [name for name in vars(module) if name.lower().startswith(ONLY_HERE)]:
        delattr(module, name)
"""
COMMANDS: Final = """
from farref.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""
ASKED: Final = (
    "--help",
    "spec R1",
    "doctor",
    "check rref --workers 2 --forks 2 --quiet",
    "prove window --quiet",
    "fuzz rref --schedules 4 --jobs 2 --quiet",
    "conform --backend tests/farref/adapters/toy.py --only R20 --quiet",
)


@pytest.fixture(scope="module")
def farref(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A farref that runs elsewhere. It is a file, as the processes that it starts read it again."""
    program = tmp_path_factory.mktemp("elsewhere") / "farref_elsewhere.py"
    program.write_text(ELSEWHERE + COMMANDS)
    return program


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("asked", ASKED)
def test_commands_that_need_no_processes_work(farref: Path, asked: str) -> None:
    done = run(farref, *asked.split())
    assert (done.returncode, done.stderr) == (0, "")


def test_what_was_found_is_explained(farref: Path, tmp_path: Path) -> None:
    found, drawn = tmp_path / "n1b.json", tmp_path / "n1b.svg"
    checked = run(farref, *["check", "rref", "--profile", "torch", "--claim", "N1b", "--quiet", "--save"], found)
    explained = run(farref, "explain", found, "-o", drawn)
    assert (checked.returncode, explained.returncode, explained.stderr) == (
        1,
        0,
        f"farref: the diagram was written to {drawn}\n",
    )


def test_a_world_says_what_it_needs() -> None:
    done = run("-c", ELSEWHERE + "from farref.impl import launch\nwith launch(1): pass")
    assert done.returncode == 1
    assert "RpcError: farref.impl needs Linux" in done.stderr


def test_what_doctor_looks_for_is_needed() -> None:
    assert NEEDED[0] == (select, "epoll")


def test_doctor_says_that_there_are_no_worlds(farref: Path) -> None:
    done = run(farref, "doctor")
    assert "worlds of processes (farref.impl) need Linux" in done.stdout
    assert "farref works here" in done.stdout


def test_a_system_unlike_unix_is_told_so_in_a_line() -> None:
    done = run("-c", "import io, signal, sys, farref.terminal.interrupts, os\nos.name = 'nt'" + COMMANDS)
    assert (done.returncode, done.stderr) == (
        HARNESS,
        "farref: this system is not enough like Unix; on Windows use farref in WSL\n",
    )


def test_memory_is_told_in_the_same_unit_where_the_system_counts_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    here = peak_mb(usage)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert peak_mb(usage) == pytest.approx(here / 1024)


def test_cores_are_counted_where_nobody_says_which_a_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores() == os.cpu_count()
