"""A world of local processes, for as long as a `with` block lasts.

The driver is a worker too, so that what is written in the block can call the others. Whatever happens, nothing is left: an
exception ends the workers at once; a worker whose driver is gone, for whatever reason, ends itself and takes the directory
with it. Workers ignore Ctrl-C, which a terminal sends to all of them: the driver decides. A program that ends inside of the
block ends its workers. A child that the driver forks is no worker and has no workers: leaving the block does nothing there.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final

import multiprocess.util  # type: ignore[import-untyped]  # which joins all workers at exit: what is registered later comes first

from farref.impl import api
from farref.impl.core.ids import WorkerId
from farref.impl.errors import GaveUp, NotRunning, RpcError, RpcTimeout, UnknownWorker
from farref.impl.limits import NO_CHOICE, Limits
from farref.impl.prompt import checked_source, without_script
from farref.impl.servant import Plan, join, work
from farref.impl.settings import (
    FRAME_BYTES_MAX,
    SHARED_BYTES_MAX,
    Settings,
    Tls,
    check_settings,
    checked_timeout,
    limit_of,
)
from farref.impl.starting import starting
from farref.impl.transport.streams import Transport, check_transport
from farref.impl.worker.process import check_idle, current

DRIVER: Final = "driver"
FAREWELL_S: Final = 3.0


class Cluster:
    """The workers that a driver started."""

    def __init__(self, names: tuple[str, ...], processes: Sequence[Any], plan: Plan) -> None:
        self.names, self._plan = names, plan
        self.processes = dict(zip(names, processes, strict=True))
        self.complaints: dict[str, list[str]] = {}
        """What workers could not release when they left, by name: there when the block has ended."""

    def pid(self, name: str) -> int:
        """Say which process a worker is."""
        return int(self._of(name).pid)

    def kill(self, name: str) -> None:
        """End a worker without warning."""
        process = self._of(name)
        process.kill()
        process.join()

    def _of(self, name: str) -> Any:
        if name not in self.processes:
            raise UnknownWorker(f"no worker of this world is called {name!r}; there are {', '.join(self.processes)}")
        return self.processes[name]

    def restart(self, name: str) -> None:
        """Start a worker that was excluded anew, under its name (R44). It has a new rank, and inherits nothing.

        If its process still lives, it is ended first. The new one can be called by everybody when this returns.
        """
        self.kill(name)
        self.processes[name].close()
        driver, plan = current(), self._plan
        before = driver.find(name)
        driver.declare_dead(before, "it is started anew")
        rank = plan.names.index(name)
        process = _process(starting(), plan, rank)
        with without_script():
            process.start()
        self.processes[name] = process
        deadline = time.monotonic() + limit_of(plan.init_timeout)
        while driver.find(name) == before:
            _all_live([process])
            if time.monotonic() > deadline:
                raise RpcTimeout(f"{name} did not come back within {plan.init_timeout} s")
            time.sleep(0.01)
        driver.intake.started.watch(driver.find(name), process.pid)


@contextmanager
def launch(
    workers: int | Sequence[str],
    *,
    allow: Sequence[str] = (),
    transport: Transport = "unix",
    rpc_timeout: float = 60.0,
    allow_pickle: bool = False,
    tls: Tls | None = None,
    copy_arrays: bool = False,
    frame_bytes_max: int = FRAME_BYTES_MAX,
    shared_bytes_max: int = SHARED_BYTES_MAX,
    limits: Limits = NO_CHOICE,
    report_seconds: float = 1.0,
    silence_seconds: float = 30.0,
    init_timeout: float = api.INIT_TIMEOUT_S,
    shutdown_timeout: float = api.SHUTDOWN_TIMEOUT_S,
    log: str | None = None,
    source: str | Sequence[str] = "",
) -> Iterator[Cluster]:
    """Start workers, be their driver, and clean up whatever happens.

    `allow` names modules whose functions may be called. `rpc_timeout` is what a call may take, in seconds; 0 means for
    ever. With `copy_arrays` large arrays arrive as copies, which one may write to, instead of views of shared memory. No
    value may be larger than `frame_bytes_max`. Each worker shares up to `shared_bytes_max` of memory with the others, for large
    arrays. `limits` says how much of everything else there may be (`spec/limits.md`). `init_timeout` is how long workers may
    take to meet. Each reports every `report_seconds` what it does, for `farref top`; with 0 never. Whoever says nothing for
    `silence_seconds` is excluded; with 0 nobody is for that. `log` is a folder in which
    each leaves a file of what it did (`spec/log.md`). `source` is text that each worker runs as its `__main__` first: that of a
    cell of a notebook, which it could not import.
    """
    everybody = named(workers)
    settings = Settings(
        rpc_timeout,
        tuple(allow),
        allow_pickle,
        frame_bytes_max,
        tls=tls,
        shared_bytes_max=shared_bytes_max,
        limits=limits,
        report_seconds=report_seconds,
        copy_arrays=copy_arrays,
        silence_seconds=silence_seconds,
    )
    _check(settings, transport, (rpc_timeout or 0, init_timeout, shutdown_timeout))
    _check_modules(allow)
    if log is not None:
        Path(log).mkdir(parents=True, exist_ok=True)
    told = (os.getpid(), init_timeout, shutdown_timeout, log, checked_source(source))
    yield from _driven(starting(), Plan(_new_folder(), everybody, transport, settings, *told))


def _check(settings: Settings, transport: Transport, timeouts: Sequence[float]) -> None:
    for timeout in timeouts:
        checked_timeout(timeout)
    check_settings(settings)
    check_transport(transport, settings)
    check_idle()


def _driven(context: Any, plan: Plan) -> Iterator[Cluster]:
    """Start the workers of a plan, and be their driver."""
    processes = [_process(context, plan, rank) for rank in range(1, len(plan.names))]
    cluster = Cluster(plan.names[1:], processes, plan)
    end = partial(_end, plan, cluster)
    atexit.register(end)  # for a program that ends in the block: its workers wait for it, and it would wait for them
    try:
        _start(plan, processes)
        try:
            yield cluster
        except BaseException:
            with suppress(NotRunning):
                api.shutdown(graceful=False)
            raise
        with suppress(NotRunning):
            api.shutdown(timeout=plan.shutdown_timeout)
    finally:
        atexit.unregister(end)
        end()


def _process(context: Any, plan: Plan, rank: int) -> Any:
    return context.Process(target=work, args=(plan, rank), daemon=True)


def _start(plan: Plan, processes: Sequence[Any]) -> None:
    """Start the workers and meet them. If that fails, none of them has begun anything: they end at once."""
    try:
        with without_script():
            for process in processes:
                process.start()
        join(plan, 0, lambda: _all_live(processes))
        for rank, process in enumerate(processes, 1):
            current().intake.started.watch(WorkerId(rank), process.pid)
    except BaseException:
        for process in processes:
            if process.pid is not None:
                process.kill()
        raise


def _new_folder() -> str:
    return tempfile.mkdtemp(prefix=prefix(os.getpid()))


def prefix(driver: int) -> str:
    """Say how the folders of a driver's worlds begin."""
    return f"farref-world-{driver}-"


def named(workers: int | Sequence[str]) -> tuple[str, ...]:
    """Name everybody, the driver first; refuse what is no number and no list of names."""
    is_fit = workers >= 1 if isinstance(workers, int) else isinstance(workers, Sequence) and len(workers) > 0
    if isinstance(workers, str) or not is_fit:
        raise RpcError(f"launch takes the number of workers, 1 or more, or a list of their names; not {workers!r}")
    others = [f"worker{n}" for n in range(1, workers + 1)] if isinstance(workers, int) else workers
    everybody = (DRIVER, *others)
    api.check_names(everybody)
    return everybody


def _check_modules(allow: Sequence[str]) -> None:
    """Refuse modules that are not there: workers look where their driver does. Only the packages around one are imported."""
    if isinstance(allow, str):
        raise RpcError(f"allow is a list of modules: allow=[{allow!r}]")
    for module in allow:
        try:
            is_there = module in sys.modules or find_spec(module) is not None
        except ModuleNotFoundError:
            is_there = False
        if not is_there:
            raise RpcError(f"allow is a list of modules that can be imported, and {module!r} cannot")


def _all_live(processes: Sequence[Any]) -> None:
    for process in processes:
        if process.exitcode is not None:
            raise GaveUp(f"a worker ended with code {process.exitcode} before the world came together")


def _end(plan: Plan, cluster: Cluster) -> None:
    """Wait a moment for every process, then make sure; hear what they could not release; and leave nothing on disk."""
    processes = cluster.processes.values()
    if os.getpid() != plan.driver:  # a fork of the driver, which has workers as little as it is one
        multiprocess.process._children.difference_update(processes)
        return
    deadline = time.monotonic() + FAREWELL_S
    with suppress(RpcError):
        api.shutdown(graceful=False)
    for process in processes:
        if process.pid is not None:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.exitcode is None:
                process.kill()
            process.join()
    for rank, name in enumerate(plan.names):
        complaints = Path(plan.directory, f"{rank}.left")
        if complaints.exists():
            cluster.complaints[name] = complaints.read_text().splitlines()
    shutil.rmtree(plan.directory, ignore_errors=True)
    if cluster.complaints:
        warnings.warn("\n".join(chain.from_iterable(cluster.complaints.values())), stacklevel=4)
