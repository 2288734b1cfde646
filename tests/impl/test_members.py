"""Workers die, pause and come back: what they held is reclaimed, and nobody who lives loses anything (R35 to R44)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from farref.impl import (
    PeerDied,
    RRef,
    Settings,
    get_debug_info,
    init_rpc,
    launch,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)
from farref.impl.core.authority import Authority
from farref.impl.core.ids import WorkerId
from farref.impl.starting import starting
from farref.impl.worker.intake import SETTLED
from farref.impl.worker.process import current
from tests.impl.far import cuts as far_cuts
from tests.impl.far import references as far
from tests.impl.settling import eventually, is_settled

FAR: Final = ["tests.impl.far.references", "tests.impl.far.cuts"]


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


def test_R44_a_worker_that_was_killed_is_started_anew_under_its_name() -> None:
    with launch(["A", "B"], allow=FAR) as world:
        rref = share_with("A")
        at_b = remote("B", far.echo, [7])
        for round_ in range(3):
            world.kill("A")
            world.restart("A")
            assert rpc_sync("A", far.add, [round_, 1]) == round_ + 1
            assert rpc_sync("A", far.pass_on, [at_b, "B"]) == 7, "it calls others"
            rpc_sync("A", far.keep, [rref])
            assert rpc_sync("B", far.pass_on, [at_b, "A"]) == 7, "others call it"
            rpc_sync("A", far.drop)
        assert get_debug_info().dead == (1, 3, 4)
        eventually(lambda: sorted(current().connections) == [2, 5])  # nothing is kept for those who have successors
        eventually(lambda: [one.worker for one in get_debug_info().peers] == [2, 5])
        with pytest.raises(PeerDied, match=r"worker A died: \S"):  # the reason depends on who notices first
            rpc_sync(3, far.name)
        assert rpc_sync("A", far_cuts.why_dead, [1]) == "worker 1 was excluded before this worker joined"
        del rref, at_b
        eventually(lambda: is_settled(["A", "B"]))


def test_R32_whoever_has_left_as_agreed_is_not_excluded() -> None:
    """The others may have left too, and nobody would answer the view."""
    with launch(["A"], allow=FAR) as world:
        with current().lock:
            current().reached[WorkerId(1)] = SETTLED
        world.kill("A")
        eventually(lambda: 1 in current().core.dead)
        assert get_debug_info().view == 0


def test_R38_whoever_wakes_after_its_successor_has_joined_is_refused_too() -> None:
    with launch(["A", "B"], allow=FAR, silence_seconds=1) as world:
        stop(world.pid("A"))
        eventually(lambda: 1 in current().core.dead)
        zombie, world.processes["A"] = world.processes["A"], starting().Process(target=int, daemon=True)
        world.processes["A"].start()
        world.restart("A")
        eventually(lambda: sorted(current().connections) == [2, 3])
        os.kill(zombie.pid, signal.SIGCONT)
        zombie.join(10)
        assert zombie.exitcode is not None, "it was refused, and left"
        assert sorted(current().connections) == [2, 3]
        assert rpc_sync("A", far.name) == "A"


def test_R35_the_authority_goes_on_from_what_it_wrote_down() -> None:
    with launch(["A", "B", "C"], allow=FAR) as world:
        world.kill("A")
        eventually(lambda: get_debug_info().buried == 1)
        driver = current()
        kept = Path(world._plan.directory, "authority").read_bytes()
        with driver.lock:
            driver.perform(driver.core.members.host(Authority.from_state(kept)))
        world.kill("B")
        eventually(lambda: (get_debug_info().view, get_debug_info().buried) == (2, 2))
        assert get_debug_info().dead == (1, 2)
        eventually(lambda: rpc_sync("C", far.dead_workers) == [1, 2])


BY_HAND: Final = """
import sys, time
sys.path.insert(0, {root!r})
from farref.impl import RRef, Settings, WasExcluded, init_rpc, rpc_sync, shutdown
from tests.impl.far import references as far
settings = Settings(allowed_modules=("tests.impl.far.references",), silence_seconds=1)
join = lambda: init_rpc("b", 1, 2, directory={directory!r}, settings=settings)
join()
kept = RRef(1)
print("up", flush=True)
refused = []
while len(refused) < 2:
    try:
        rpc_sync("a", far.echo, [kept])
        time.sleep(0.01)
    except WasExcluded as error:
        refused.append(str(error))
print(refused[1], flush=True)
shutdown()
print(join().id, rpc_sync("a", far.add, [1, 1]), flush=True)
shutdown()
"""


def test_R38_R44_a_process_that_was_paused_is_refused_and_joins_again(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    script = BY_HAND.format(root=str(Path(__file__).parents[2]), directory=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        settings = Settings(allowed_modules=tuple(FAR), silence_seconds=1)
        init_rpc("a", 0, 2, directory=tmp_path, settings=settings)
        assert other.stdout.readline() == "up\n"
        stop(other.pid)
        eventually(lambda: 1 in current().core.dead)
        os.kill(other.pid, signal.SIGCONT)
        assert "was excluded in view 1: worker b died: it has said nothing for 1 s" in other.stdout.readline()
        assert other.stdout.readline() == "2 2\n"
        assert rpc_sync("b", far.name) == "b"
        assert shutdown().is_empty()
        assert other.wait(10) == 0


PAUSED: Final = """
import sys, time
sys.path.insert(0, {root!r})
from farref.impl import Settings, init_rpc, shutdown
settings = Settings(allowed_modules=("tests.impl.far.references",), silence_seconds=1)
init_rpc("a", 0, 2, directory={directory!r}, settings=settings)
time.sleep(6)
shutdown()
"""

WITHOUT: Final = """
import os, sys, time
sys.path.insert(0, {root!r})
from farref.impl import PeerDied, Settings, init_rpc, rpc_sync, shutdown
from tests.impl.far import references as far
rank = int(sys.argv[1])
settings = Settings(allowed_modules=("tests.impl.far.references",))
init_rpc("abc"[rank], rank, 3, directory={directory!r}, settings=settings)
if rank == 0:
    time.sleep(60)
if rank == 1:
    try:
        rpc_sync("a", far.slow, [60])
    except PeerDied as error:
        print(error, flush=True)
    print(rpc_sync("c", far.add, [1, 1]), flush=True)
shutdown()
"""


def test_R35_without_the_authority_nobody_is_excluded_and_all_else_goes_on(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    script = WITHOUT.format(root=str(Path(__file__).parents[2]), directory=str(tmp_path))
    a, b, c = (
        subprocess.Popen([sys.executable, "-c", script, str(rank)], stdout=subprocess.PIPE, text=True)
        for rank in range(3)
    )
    eventually(lambda: (tmp_path / "1.met").exists())
    time.sleep(0.5)
    a.kill()
    assert a.wait(10) != 0
    told, _ = b.communicate(timeout=30)
    assert "slow: worker a died: the other end hung up" in told
    assert told.endswith("\n2\n")
    assert (b.returncode, c.wait(30)) == (0, 0)
    assert a.stdout is not None
    assert c.stdout is not None
    a.stdout.close()
    c.stdout.close()


def test_R35_R36_while_the_authority_is_paused_nobody_takes_it_for_dead(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    script = PAUSED.format(root=str(Path(__file__).parents[2]), directory=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script]) as host:
        settings = Settings(allowed_modules=tuple(FAR), silence_seconds=1)
        init_rpc("b", 1, 2, directory=tmp_path, settings=settings)
        stop(host.pid)
        waiting = rpc_async("a", far.add, [1, 1])
        time.sleep(2.5)
        assert get_debug_info().dead == ()
        os.kill(host.pid, signal.SIGCONT)
        assert waiting.wait() == 2
        time.sleep(1.5)
        assert (get_debug_info().dead, get_debug_info().view) == ((), 0), "nor does it take the others for silent"
        shutdown()


def test_R35_a_process_that_comes_in_the_place_of_the_lost_authority_is_not_taken_in(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    script = PAUSED.format(root=str(Path(__file__).parents[2]), directory=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script]) as host:
        init_rpc("b", 1, 2, directory=tmp_path, settings=Settings(allowed_modules=tuple(FAR), silence_seconds=1))
        host.kill()
    eventually(lambda: 0 in current().core.dead)
    again = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert again.returncode != 0
    assert "has come together already, and takes nobody in later" in again.stderr
    assert (get_debug_info().dead, get_debug_info().view) == ((0,), 0), "nothing else changes"
    shutdown()
