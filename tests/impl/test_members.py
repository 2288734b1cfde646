"""Workers die, pause and come back: what they held is reclaimed, and nobody who lives loses anything (R35 to R44)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from farref.impl import PeerDied, RRef, get_debug_info, launch, remote, rpc_async, rpc_sync
from farref.impl.worker.process import current
from tests.impl.far import references as far
from tests.impl.settling import eventually, is_settled

FAR: Final = ["tests.impl.far.references"]


def took(holds: Callable[[], bool]) -> float:
    """Wait until something holds, and say how long that took."""
    began = time.monotonic()
    eventually(holds)
    return time.monotonic() - began


def stop(pid: int) -> None:
    """Stop a process, all of its threads."""
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")
    eventually(
        lambda: all((one / "stat").read_text().rpartition(")")[2].split()[0] == "T" for one in threads.iterdir())
    )


def share_with(name: str) -> RRef:
    """Have a worker hold a reference to something here."""
    rref = RRef("value")
    rpc_sync(name, far.keep, [rref])
    eventually(lambda: [len(entry.forks) for entry in get_debug_info().entries] == [1])
    return rref


def test_R41_what_a_killed_user_held_is_reclaimed() -> None:
    with launch(["A", "B"], allow=FAR) as world:
        rref = share_with("A")
        world.kill("A")
        assert took(lambda: 1 in current().core.dead) < 1
        assert took(lambda: [entry.forks for entry in get_debug_info().entries] == [()]) < 1
        with pytest.raises(PeerDied, match="worker A died"):
            rpc_sync("A", far.echo)
        assert rref.local_value() == "value"
        del rref
        eventually(lambda: is_settled(["B"]))


def test_R36_a_pause_shorter_than_the_silence_that_is_allowed_loses_nothing() -> None:
    with launch(["A", "B"], allow=FAR, silence_seconds=3) as world:
        share_with("A")
        stop(world.pid("A"))
        future = rpc_async("A", far.add, [1, 1])
        time.sleep(1.5)
        os.kill(world.pid("A"), signal.SIGCONT)
        assert future.wait() == 2
        time.sleep(3)
        assert get_debug_info().dead == ()


def test_R38_a_worker_that_was_silent_too_long_is_excluded_and_refused() -> None:
    with launch(["A", "B"], allow=FAR, silence_seconds=1) as world:
        rref = share_with("A")
        at_b = remote("B", far.echo, [7])
        rpc_sync("A", far.keep, [at_b])
        stop(world.pid("A"))
        waiting = rpc_async("A", far.add, [1, 1])
        began = time.monotonic()
        with pytest.raises(PeerDied, match="worker A died: it has said nothing for 1 s"):
            waiting.wait()
        eventually(lambda: [entry.forks for entry in get_debug_info().entries] == [()])
        assert time.monotonic() - began < 3
        assert at_b.to_here() == 7
        os.kill(world.pid("A"), signal.SIGCONT)
        world.processes["A"].join(10)
        assert world.processes["A"].exitcode is not None, "it was refused, and left"
        del rref, at_b
        eventually(lambda: is_settled(["B"]))
