"""A world and its driver: killed while starting, told what was left, closed to latecomers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from farref.impl import UnknownWorker, init_rpc, launch, remote, rpc_sync, shutdown
from farref.impl.cluster import Cluster
from tests.impl.far import references as far

ROOT = Path(__file__).parents[2]

STARTING = """
import sys
sys.path.insert(0, {root!r})
from farref.impl import launch
if __name__ == "__main__":
    print("starting", flush=True)
    with launch(3):
        pass
"""


@pytest.mark.parametrize("seconds", [0.2, 0.5, 0.8])
def test_a_driver_killed_while_it_starts_leaves_nothing_and_nobody_complains(
    seconds: float, tmp_path: Path, place: Path
) -> None:
    script = tmp_path / "driver.py"
    script.write_text(STARTING.format(root=str(ROOT)))
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        time.sleep(seconds)
        driver.kill()
        _, complaints = driver.communicate(timeout=30)  # which waits until every worker has closed it
    assert complaints == ""
    assert not list(place.iterdir())


KNOWN_TO_NOBODY = """
import sys, time
sys.path.insert(0, {root!r})
from farref.impl import cluster, launch
made = cluster._new_folder
def slow():
    folder = made()
    print("made", flush=True)
    time.sleep(60)
    return folder
cluster._new_folder = slow
if __name__ == "__main__":
    with launch(1):
        pass
"""


def test_a_folder_that_no_worker_knows_of_yet_goes_with_its_driver(tmp_path: Path, place: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(KNOWN_TO_NOBODY.format(root=str(ROOT)))
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        assert list(place.glob("farref-world-*"))
        driver.kill()
        _, complaints = driver.communicate(timeout=30)
    assert complaints == ""
    assert not list(place.iterdir())


def test_what_workers_could_not_release_is_listed_for_the_driver(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match="A could not release everything"):
        world = let_a_user_of_another_worker_die()
    assert list(world.complaints) == ["A"]
    assert "a fork of C counted; not ready to leave in time: B. In full: WorkerTables(" in world.complaints["A"][0]
    assert "A could not release" not in capfd.readouterr().err


def let_a_user_of_another_worker_die() -> Cluster:
    """While another one is stopped, and says nothing about what it may have from that user: so nothing is let go (R39)."""
    with launch(["A", "B", "C"], allow=["tests.impl.far.references"], shutdown_timeout=0.5) as world:
        x = remote("A", far.echo, [1])
        rpc_sync("C", far.keep, [x])
        os.kill(world.pid("B"), signal.SIGSTOP)
        world.kill("C")
        del x
    return world


def test_a_worker_that_is_none_is_not_killed() -> None:
    with launch(["A"]) as world:
        for use in (world.kill, world.pid, world.restart):
            with pytest.raises(UnknownWorker, match="no worker of this world is called 'B'; there are A"):
                use("B")


def test_nobody_joins_a_world_that_has_met(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    init_rpc("alone", 0, 1, directory=tmp_path)
    newcomer = (
        "import sys; from farref.impl import init_rpc; from farref.impl.errors import RpcError\n"
        "try: init_rpc('alone', 0, 2, directory=sys.argv[1], timeout=60)\n"
        "except RpcError as error: print(error)"
    )
    command = [sys.executable, "-c", newcomer, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=40, cwd=ROOT).stdout
    assert "takes nobody in later (R34). In it: alone" in told
    shutdown()
    init_rpc("alone", 0, 1, directory=tmp_path)
    shutdown()
