"""A campaign gives the same in one process, in several and on a cluster, and also if somebody dies on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.loading import BackendError, Placed
from farref.properties.twin.tally import Tally
from tests.properties.work.dask_cluster import ROOT, cluster

SCHEDULES = 40

HEAD = """
import os, signal
from pathlib import Path
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
"""
DIES_ONCE = f"""{HEAD}
class Mine(SimulatedBackend):
    starts = 0

    def start(self, bounds):
        Mine.starts += 1
        flag = Path(__file__).with_suffix(".died")
        if Mine.starts == 5 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super().start(bounds)
"""
DIES_ALWAYS = f"""{HEAD}
class Mine(SimulatedBackend):
    def start(self, bounds):
        os.kill(os.getpid(), signal.SIGKILL)
"""
WRONG = f"""{HEAD}
class Mine(SimulatedBackend):
    def perform(self, action):
        1 / (str(action) != "LetGo(f2)")
        super().perform(action)
"""
BROKEN = f"""{HEAD}
class Mine(SimulatedBackend):
    def start(self, bounds):
        raise RuntimeError("no workers today")
"""


@pytest.fixture
def placed(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], Placed]:
    """Write a backend to a file; each has a name of its own, as modules are kept by name."""

    def written(text: str) -> Placed:
        place = tmp_path / f"mine_{abs(hash(request.node.name))}.py"
        place.write_text(text)
        return Placed(str(place), "rref")

    return written


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster of a scheduler and two workers."""
    with cluster(2, tmp_path_factory.mktemp("dask")) as running:
        yield running.address


def told(tally: Tally) -> tuple[Any, ...]:
    """Say all of a tally that must not depend on who did the work."""
    counts = tally.schedules, tally.steps, tally.judged, tally.faults, tally.reached
    return tally.trace_hash, *counts, tally.disagreement and str(tally.disagreement), tally.schedule


def alone(make: Any) -> Tally:
    return campaign(make, seed=5, first=3, schedules_max=SCHEDULES, protocol="rref")


@pytest.fixture(params=["2 processes", "a cluster"])
def workers(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"jobs": 2} if request.param == "2 processes" else {"cluster": request.getfixturevalue("address")}


@pytest.mark.parametrize("text", [f"{HEAD}\nclass Mine(SimulatedBackend): pass", WRONG], ids=["right", "wrong"])
def test_everybody_finds_the_same(placed: Callable[[str], Placed], text: str, workers: dict[str, Any]) -> None:
    make = placed(text)
    shared = campaign(make, seed=5, first=3, schedules_max=SCHEDULES, protocol="rref", **workers)
    assert told(shared) == told(alone(make))
    assert (shared.disagreement is None) == (text != WRONG)


def test_the_unit_of_a_process_that_dies_is_done_again(placed: Callable[[str], Placed], tmp_path: Path) -> None:
    make = placed(DIES_ONCE)
    shared = campaign(make, seed=5, first=3, schedules_max=SCHEDULES, protocol="rref", jobs=2)
    assert list(tmp_path.glob("*.died"))
    assert told(shared) == told(alone(make))


def test_the_unit_of_a_worker_that_dies_is_done_again(placed: Callable[[str], Placed], tmp_path: Path) -> None:
    make = placed(DIES_ONCE)
    with cluster(2, tmp_path) as running:
        shared = campaign(make, seed=5, first=3, schedules_max=SCHEDULES, protocol="rref", cluster=running.address)
        assert sorted(one.poll() is None for one in running.workers) == [False, True]
    assert list(tmp_path.glob("*.died"))
    assert told(shared) == told(alone(make))


def test_a_unit_that_ends_every_process_is_told_of(placed: Callable[[str], Placed]) -> None:
    with pytest.raises(ChildProcessError, match="each of 3 processes that did this work has ended"):
        campaign(placed(DIES_ALWAYS), seed=5, schedules_max=8, jobs=2, protocol="rref")


def test_a_scheduler_that_dies_leaves_what_was_done(tmp_path: Path) -> None:
    with cluster(1, tmp_path) as running:
        kill = running.scheduler.kill
        tally = campaign(SimulatedBackend, seed=5, cluster=running.address, on_schedule=lambda _: kill())
    assert tally.schedules
    assert tally.stopped == f"the scheduler at {running.address} is gone"


def test_an_error_of_a_unit_is_told_as_it_is(placed: Callable[[str], Placed], workers: dict[str, Any]) -> None:
    with pytest.raises(BackendError, match="no workers today"):
        campaign(placed(BROKEN), seed=5, schedules_max=8, protocol="rref", **workers)


def test_a_backend_with_processes_of_its_own_is_driven_there(address: str) -> None:
    shared = campaign(ProcessesBackend, seed=5, schedules_max=6, cluster=address)
    assert told(shared) == told(campaign(SimulatedBackend, seed=5, schedules_max=6))


# -- machines apart ----------------------------------------------------------------------------------------------------

THERE = """
import sys
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
if __name__ == "__main__":
    tally = campaign(SimulatedBackend, seed=5, first=3, schedules_max=int(sys.argv[2]), cluster=sys.argv[1])
    print(tally.trace_hash)
"""


@pytest.fixture
def apart() -> Iterator[tuple[str, str]]:
    """Two network namespaces with a wire between them; the first has the address 10.77.0.1."""
    one, other = f"farref-{os.getpid()}-a", f"farref-{os.getpid()}-b"
    wire = f"ip link add wire netns {one} type veth peer name wire netns {other}"
    made = [f"ip netns add {one}", f"ip netns add {other}", wire]
    for number, name in enumerate((one, other), start=1):
        made += [f"ip -n {name} link set lo up", f"ip -n {name} addr add 10.77.0.{number}/24 dev wire"]
        made += [f"ip -n {name} link set wire up"]
    try:
        for command in made:
            done = subprocess.run(command.split(), capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"network namespaces cannot be made here: {done.stderr.strip()}")
        yield one, other
    except FileNotFoundError:
        pytest.skip("network namespaces cannot be made here: there is no program `ip`")
    finally:
        for name in (one, other):
            with suppress(FileNotFoundError):
                subprocess.run(["ip", "netns", "del", name], capture_output=True)


def test_workers_in_another_network_find_the_same(apart: tuple[str, str], tmp_path: Path) -> None:
    here, there = (("ip", "netns", "exec", name) for name in apart)
    (tmp_path / "driver.py").write_text(THERE)
    with cluster(2, tmp_path, host="10.77.0.1", scheduled=here, before=there) as running:
        assert running.address.startswith("tcp://10.77.0.1:")
        command = [*here, sys.executable, str(tmp_path / "driver.py"), running.address, str(SCHEDULES)]
        driven = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, stdout=subprocess.PIPE
        )
    assert driven.stdout.strip() == alone(SimulatedBackend).trace_hash
