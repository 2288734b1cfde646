"""What is left when workers die, drivers die, blocks end: nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from farref.impl import (
    NotRunning,
    PeerDied,
    RpcError,
    RpcTimeout,
    RRef,
    get_debug_info,
    init_rpc,
    launch,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)
from farref.impl.api import current
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.errors import WireError
from farref.impl.transport.handshake import Identity, connect
from farref.impl.worker import leaving
from tests.impl.far import references as far
from tests.impl.settling import eventually

ROOT = Path(__file__).parents[2]


def lives(pid: int) -> bool:
    """Say whether a process runs; one that ended and was not waited for does not."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone_within(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(lives(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(lives(pid) for pid in pids)


def test_R34_a_killed_peer_is_named_long_before_any_timeout() -> None:
    """Each wait has its end; what comes first is the death, which is another error."""
    with launch(["A", "B", "C"], allow=["tests.impl.far.references"], rpc_timeout=60, shutdown_timeout=1) as world:
        x = remote("B", far.echo, [1])
        assert x.to_here() == 1
        running = rpc_async("B", far.slow, [60])
        waiting = remote("B", far.slow, [60])
        world.kill("B")
        with pytest.raises(PeerDied, match="worker B died"):
            running.wait(timeout=30)
        with pytest.raises(PeerDied, match="worker B died"):
            waiting.to_here(timeout=30)
        with pytest.raises(PeerDied, match="worker B died"):
            rpc_sync("B", far.echo)
        with pytest.raises(PeerDied, match="worker B died"):
            remote("B", far.echo)
        with pytest.raises(
            PeerDied, match=r"an argument of .*references:fetch on C: the owner of .* is dead: worker B died"
        ):
            rpc_sync("C", far.fetch, [x])
        assert rpc_sync("A", far.add, [1, 1]) == 2
        del x, waiting
        assert get_debug_info().users == ()


def test_R45_the_forks_of_a_killed_user_are_listed_under_its_name_until_it_is_buried() -> None:
    with pytest.warns(UserWarning, match="could not release"):
        keep_and_kill()


def keep_and_kill() -> None:
    with launch(["A", "C"], allow=["tests.impl.far.references"], shutdown_timeout=0.5) as world:
        x = RRef("kept for C")
        rpc_sync("C", far.keep, [x])
        os.kill(
            world.pid("A"), signal.SIGSTOP
        )  # which might hold a fork that C minted: until it settles, C is not buried
        world.kill("C")
        del x
        eventually(lambda: get_debug_info().dead == (2,))
        (entry,) = get_debug_info().entries
        assert [holder for _, holder in entry.forks] == [2]
        assert get_debug_info().dead == (2,)


def test_leaving_a_block_leaves_nothing(place: Path) -> None:
    with launch(2, allow=["tests.impl.far.references"]) as world:
        pids = [world.pid(name) for name in world.names]
        kept = remote("worker1", far.echo, [1])
        assert rpc_sync("worker2", far.fetch, [kept]) == 1
        driver = current()
    everybody = dict.fromkeys(driver.connections, leaving.SETTLED)
    assert driver.reached == everybody, "leaving waited for its deadline, and not for everybody to be ready"
    assert gone_within(pids, 5)
    assert not list(place.iterdir())
    with pytest.raises(NotRunning):
        rpc_sync("worker1", far.echo)
    with pytest.raises(NotRunning):
        kept.to_here()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_ends_the_workers_even_busy_ones(error: type[BaseException]) -> None:
    pids: list[int] = []

    def work() -> None:
        with launch(2, allow=["tests.impl.far.references"]) as world:
            pids.extend(world.pid(name) for name in world.names)
            rpc_async("worker1", far.slow, [30])
            raise error

    with pytest.raises(error):
        work()
    assert gone_within(pids, 5)


DRIVER = """
import sys, time
sys.path.insert(0, {root!r})
from farref.impl import launch, rpc_async
from tests.impl.far import references as far
if __name__ == "__main__":
    with launch(2, allow=["tests.impl.far.references"]) as world:
        rpc_async("worker1", far.slow, [30])
        print(*[world.pid(name) for name in world.names], flush=True)
        time.sleep(30)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_is_killed_or_interrupted_leaves_nothing(
    ending: signal.Signals, tmp_path: Path, place: Path
) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(root=str(ROOT)))
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as driver:
        assert driver.stdout is not None
        pids = [int(pid) for pid in driver.stdout.readline().split()]
        assert len(pids) == 2
        if ending == signal.SIGINT:
            os.killpg(driver.pid, ending)
        else:
            driver.kill()
        driver.wait(5)
        assert gone_within(pids, 5)
    assert not list(place.iterdir())


def test_a_second_world_and_one_after_another() -> None:
    """N8: references work in a process that was in another world before."""
    for _ in range(2):
        with launch(2, allow=["tests.impl.far.references"]):
            x = remote("worker1", far.echo, ["again"])
            assert rpc_sync("worker2", far.fetch, [x]) == "again"
            del x
    with pytest.raises(NotRunning):
        shutdown()


BY_HAND = """
import sys, time
sys.path.insert(0, {root!r})
from farref.impl import Settings, get_worker_info, init_rpc, remote, rpc_sync, shutdown
from tests.impl.far import references as far
rank = int(sys.argv[1])
init_rpc("ab"[rank], rank, 2, directory={directory!r}, settings=Settings(allowed_modules=("tests.impl.far.references",)))
if rank == 0:
    x = remote("b", far.name)
    print(x.to_here(), rpc_sync("b", far.fetch, [x]), flush=True)
assert shutdown().is_empty()
"""


def test_workers_started_by_hand_meet_in_a_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    script = BY_HAND.format(root=str(ROOT), directory=str(tmp_path))
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(rank)], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    outputs = [worker.communicate(timeout=30)[0] for worker in workers]
    assert outputs == ["b b\n", ""]
    assert [worker.returncode for worker in workers] == [0, 0]


def test_a_directory_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(RuntimeError, match="0700"):
        init_rpc("a", 0, 2, directory=tmp_path)


def test_strangers_at_the_meeting_place_are_turned_away(tmp_path: Path) -> None:
    """Noise, a wrong key and a thousand who say nothing come first; the right worker still gets in."""
    tmp_path.chmod(0o700)
    script = BY_HAND.format(root=str(ROOT), directory=str(tmp_path))
    command = [sys.executable, "-c", script]
    with subprocess.Popen([*command, "0"], stdout=subprocess.PIPE, text=True) as first:
        place = tmp_path / "0"
        while not place.exists():
            time.sleep(0.01)
        strangers = [socket.socket(socket.AF_UNIX) for _ in range(1003)]
        for stranger in strangers:
            stranger.connect(str(place))
        with suppress(BrokenPipeError):
            strangers[-1].sendall(b"GET / HTTP/1.1\r\n" * 20)
        with pytest.raises((WireError, OSError)):
            connect(strangers[-2], Identity(WorkerId(1), Incarnation(1), bytes(16), bytes(32)))
        strangers[-3].close()
        with subprocess.Popen([*command, "1"]) as second:
            assert first.communicate(timeout=30)[0] == "b b\n"
            assert second.wait(10) == 0
        for stranger in strangers:
            stranger.close()


def test_a_frame_that_makes_no_sense_ends_the_connection_and_runs_nothing() -> None:
    with launch(["A", "B"], allow=["tests.impl.far.references"], shutdown_timeout=1):
        rpc_sync("B", far.keep, [remote("A", far.echo, [1])])
        with suppress(PeerDied):  # it may be excluded before it has answered
            rpc_sync("A", far.send_noise, ["B"])
        with pytest.raises(PeerDied, match="worker A died"):
            rpc_sync("B", far.pass_on, [RRef(1), "A"])
        assert rpc_sync("B", far.dead_workers) == [1]
        assert rpc_sync("B", far.echo, ["still here"]) == "still here"
        with pytest.raises(PeerDied, match="worker A died: a frame is no message"):
            rpc_sync("A", far.echo, ["it is excluded, for everybody"])


def test_pickle_is_loud_and_works_when_asked_for() -> None:
    with (
        pytest.warns(UserWarning, match="allow_pickle"),
        launch(1, allow=["tests.impl.far.references"], allow_pickle=True),
    ):
        assert rpc_sync("worker1", far.echo, [Path("x")]) == Path("x")


def test_a_peer_that_stands_still_delays_nobody_and_goes_on_later() -> None:
    with launch(["A", "B"], allow=["tests.impl.far.references"]) as world:
        x = remote("A", far.echo, [1])
        assert x.to_here() == 1
        os.kill(world.pid("A"), signal.SIGSTOP)
        try:
            for _ in range(3):
                with pytest.raises(RpcTimeout, match="on A"):
                    rpc_sync("A", far.echo, [np.zeros(1_000_000)], timeout=0.3)
            assert rpc_sync("B", far.add, [1, 1]) == 2
        finally:
            os.kill(world.pid("A"), signal.SIGCONT)
        assert rpc_sync("A", far.add, [1, 1]) == 2
        assert rpc_sync("B", far.fetch, [x]) == 1
        del x
    assert not world.processes["A"].is_alive()


def test_a_rank_outside_the_world_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RpcError, match="ranks 0 to 1, and not 2"):
        init_rpc("a", 2, 2, directory=tmp_path)


def test_an_end_does_not_wait_for_ever_for_a_function_that_does_not_return() -> None:
    with (
        pytest.warns(UserWarning, match="without an answer from tests.impl.far.references:slow on A"),
        launch(["A"], allow=["tests.impl.far.references"], shutdown_timeout=0.3),
    ):
        rpc_async("A", far.slow, [600])
