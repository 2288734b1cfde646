"""Measure the twin: `python bench/twin.py`.

Schedules per second in lockstep, over the simulated network and over real processes, and how long it takes to judge a log.
CPU seconds of this process are told beside wall seconds, because other work on a machine slows down the latter only.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.journal import LoggedCore
from farref.impl.simulated.network import Simulation
from farref.impl.worker.logfile import journal_in
from farref.properties.logs.format import read_logs
from farref.properties.logs.validate import validate
from farref.properties.twin.backend import Backend
from farref.properties.twin.backends.autograd.processes import AutogradProcesses
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign

EVENTS = 3_000


def main() -> None:
    """Measure everything, and print a line each."""
    measure("1,000 schedules, simulated", lambda: campaign(SimulatedBackend, seed=0, schedules_max=1_000))
    measure("100 schedules, processes", lambda: campaign(ProcessesBackend, seed=0, schedules_max=100))
    for make, schedules in ((SimulatedAutograd, 1_000), (AutogradProcesses, 100)):
        measure(f"{schedules:,} programs of autograd, {make.name}", partial(run_programs, make, schedules))
    with tempfile.TemporaryDirectory() as folder:
        files = write_logs(Path(folder))
        measure(f"a log of {EVENTS:,} events and more", lambda: judge(files))


def run_programs(make: Callable[[], Backend], schedules: int) -> object:
    """Take programs of distributed autograd in lockstep."""
    return campaign(make, seed=0, schedules_max=schedules)


def measure(what: str, work: Callable[[], object]) -> None:
    """Do something, and tell how long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    print(f"{what}: {time.perf_counter() - wall:.2f} s, CPU {time.process_time() - cpu:.2f} s", flush=True)


def judge(files: list[Path]) -> None:
    """Read and judge logs, which are sound."""
    finding = validate(read_logs((path.name, path.read_bytes()) for path in files))
    if finding is not None:
        raise SystemExit(f"refused: {finding}")


def write_logs(folder: Path) -> list[Path]:
    """Let three simulated workers create, share, fetch and let go until they have enough to tell."""
    names = {WorkerId(0): "A", WorkerId(1): "B", WorkerId(2): "C"}
    files = [folder / f"{name}.jsonl" for name in names.values()]
    cores = {rank: LoggedCore(rank, names, Incarnation(1), journal_in(files[rank])) for rank in names}
    network = Simulation(len(names))
    network.cores = dict(cores)
    creator, owner, third = names
    while sum(core.journal.events for core in cores.values()) < EVENTS:
        reference = network.create_remote(creator, owner)
        network.share_as_argument(creator, third, reference)
        network.fetch(creator, reference)
        settle(network)
        network.finish_function(owner, reference.rref)
        settle(network)
        for worker in (creator, third):
            for held in network.handles(worker):
                network.let_go(worker, held)
        settle(network)
    for core in cores.values():
        core.end()
    return files


def settle(network: Simulation) -> None:
    """Let everything arrive."""
    while flights := network.in_flight():
        network.deliver(flights[0].id)


if __name__ == "__main__":
    main()
