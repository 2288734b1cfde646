"""A child made by `os.fork()` is no worker: it takes no answer of its parent's, and nothing of it is heard."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from farref.impl import (
    Future,
    NotRunning,
    ReferenceRefused,
    RRef,
    get_worker_info,
    init_rpc,
    launch,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)
from farref.impl.api import current
from farref.impl.transport.streams import Transport
from tests.impl.far import references as far

ROOT = Path(__file__).parents[2]


def forked(act: Callable[[], None]) -> int:
    """Do something in a child, and say which process that is."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return pid


def ended_well(pid: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_parent_gets_its_own_answers_and_its_child_none(transport: Transport) -> None:
    def ask() -> None:
        for _ in range(100):
            with pytest.raises(NotRunning, match="fork of driver"):
                rpc_sync("A", far.echo, ["the child's"])

    with launch(["A"], allow=["tests.impl.far.references"], transport=transport, rpc_timeout=20):
        children = [forked(ask) for _ in range(3)]
        assert {rpc_sync("A", far.echo, [number]) == number for number in range(300)} == {True}
        assert [ended_well(child) for child in children] == [True] * 3
        assert rpc_sync("A", far.echo, ["still there"]) == "still there"


def test_what_a_child_has_of_its_parents_world_says_so() -> None:
    with launch(["A"], allow=["tests.impl.far.references"], rpc_timeout=20):
        waiting, there, own = rpc_async("A", far.held_back), remote("A", far.echo, [1]), RRef(2)

        def use() -> None:
            for act in (waiting.wait, there.to_here, own.to_here, lambda: RRef(1), get_worker_info, shutdown):
                with pytest.raises((NotRunning, ReferenceRefused)):
                    act()

        assert ended_well(forked(use))
        rpc_sync("A", far.release)
        waiting.wait()
        assert (there.to_here(), own.to_here()) == (1, 2)


def test_a_fork_takes_the_locks_in_their_order(tmp_path: Path) -> None:
    """A thread in the middle of a step may settle a future while another one is about to fork."""
    tmp_path.chmod(0o700)
    init_rpc("alone", 0, 1, directory=tmp_path)
    forking = threading.Thread(target=lambda: ended_well(forked(lambda: None)), daemon=True)
    with current().lock:
        forking.start()
        time.sleep(0.2)  # which is enough for a fork to take what it takes first
        future = Future()
        settling = threading.Thread(target=future.set_result, args=(1,), daemon=True)
        settling.start()
        settling.join(10)
        assert future.done()
    forking.join(10)
    assert not forking.is_alive()
    shutdown()


def test_a_child_may_have_a_world_of_its_own() -> None:
    def launch_another() -> None:
        with launch(["B"], allow=["tests.impl.far.references"], rpc_timeout=20):
            assert rpc_sync("B", far.echo, [1]) == 1

    with launch(["A"], allow=["tests.impl.far.references"], rpc_timeout=20):
        assert ended_well(forked(launch_another))
        assert rpc_sync("A", far.echo, [2]) == 2


FORKED = """
import os, sys
from farref.impl import launch, rpc_sync
from tests.impl.far import references as far
if __name__ == "__main__":
    with launch(["A"], allow=["tests.impl.far.references"], rpc_timeout=20):
        if os.fork() == 0:
            sys.exit(0)  # as a program does: files are flushed
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        print(rpc_sync("A", far.echo, ["lives"]))
"""


def ended(script: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-c",
        script,
    ]  # which Python 3.12 gives of the fork itself
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_a_child_that_leaves_the_block_ends_nothing() -> None:
    done = ended(FORKED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lives\n", "")


def test_a_child_writes_nothing_into_its_parents_log(tmp_path: Path) -> None:
    done = ended(FORKED.replace("rpc_timeout=20", f"rpc_timeout=20, log={str(tmp_path)!r}"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "lives\n", "")
    lines = (tmp_path / "driver.jsonl").read_text().splitlines()
    assert len(lines) > 1
    assert len(lines) == len(set(lines))


LEFT_OPEN = """
from farref.impl import launch, rpc_sync
from tests.impl.far import references as far
if __name__ == "__main__":
    world = launch(["A"], allow=["tests.impl.far.references"], rpc_timeout=20)
    world.__enter__()
    print(rpc_sync("A", far.echo, ["entered"]))
"""


def test_a_program_ends_that_never_leaves_its_world() -> None:
    """Its workers are ended with it. They used to wait for it, and it for them."""
    done = ended(LEFT_OPEN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "entered\n", "")
