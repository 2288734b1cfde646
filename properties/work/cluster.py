"""A Dask cluster that does units of work: one that runs elsewhere, or one that is started on this machine.

Whatever is wrong with it is told in one line: Dask is not installed, nobody answers at the address, there are no workers, or
they have other sources than we have. Dask gives the unit of a worker that dies to another one. A unit that ends several
workers is not given to more of them.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import cache
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Final, TypeVar

import farref
from farref.properties.processes import undisturbed
from farref.properties.work.kept import release
from farref.properties.work.units import Workers, WorkersLost
from farref.words import how_to_install, in_a_line

LOCAL: Final = "local"
ADDRESS: Final = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?[^\s:/]+:\d+|tcp://\[[0-9a-fA-F:]+\]:\d+")
ANSWER_S: Final = 10.0
"""So long a scheduler has to answer."""

EMPTY_S: Final = 30.0
"""So long a cluster may be without any worker, also at the beginning."""

Result = TypeVar("Result")


class ClusterError(Exception):
    """A cluster cannot be used; the message says why, in one line."""


def complaint(address: str) -> str | None:
    """Say what is wrong with the text of an address, if something is."""
    if address == LOCAL or ADDRESS.fullmatch(address):
        return None
    return (
        f"{address!r} is not the address of a scheduler; give tcp://HOST:PORT, or local for a cluster on this machine"
    )


class Cluster(Workers):
    """The workers of a Dask cluster."""

    unit_seconds = 2.0

    def __init__(self, address: str) -> None:
        dask = _imported()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is told in one line
        self._address, self._killed = address, dask.KilledWorker
        self._empty_since: float | None = None
        self._own = _started(dask) if address == LOCAL else None
        try:
            self._client = _connected(dask, address, self._own)
            self._refuse_others()
        except BaseException:
            self._close()
            raise
        self._executor = self._client.get_executor(pure=False)

    @property
    def count(self) -> int:
        """The workers that are there now, but at least one: another may come."""
        return max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))

    def submit(self, work: Callable[..., Result], /, *given: Any, **named: Any) -> Future[Result]:
        """Let some worker do a unit."""
        future: Future[Result] = self._executor.submit(_done, fingerprint(), work, *given, **named)
        return future

    def look(self) -> None:
        """See that there are workers. For a while there may be none: whoever has died may be started again."""
        if self._client.status != "running":
            raise WorkersLost(f"the scheduler at {self._address} is gone")
        if self._client.scheduler_info(n_workers=-1)["workers"]:
            self._empty_since = None
            return
        self._empty_since = self._empty_since or time.monotonic()
        if time.monotonic() - self._empty_since > EMPTY_S:
            raise WorkersLost(f"the cluster at {self._address} has had no worker for {EMPTY_S:.0f} s")

    def told(self, error: BaseException) -> BaseException:
        """Say what it means that a unit was not done."""
        if isinstance(error, self._killed):
            return WorkersLost("each of several workers that did the same unit has died; see their logs")
        if isinstance(error, CancelledError):
            return WorkersLost(f"the scheduler at {self._address} is gone")
        return error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:  # noqa: ARG002 (the signature is Executor's)
        """Leave the cluster, and end it if it is ours. What it still does for us is cancelled."""
        with suppress(Exception):  # if nobody is there any more, nothing is kept there
            self._executor.shutdown(wait=False)
            self._client.run(release, on_error="ignore")
        self._close()

    def _close(self) -> None:
        for one in (getattr(self, "_client", None), self._own):
            with suppress(Exception):
                if one is not None:
                    one.close(ANSWER_S)

    def _refuse_others(self) -> None:
        """Refuse a cluster without workers, and one whose scheduler or workers have other sources than we have."""
        try:
            self._client.wait_for_workers(1, timeout=EMPTY_S)
        except TimeoutError as error:
            raise ClusterError(f"the cluster at {self._address} has no workers") from error
        answers = {"the scheduler": self._scheduler(), **self._client.run(fingerprint, on_error="return")}
        for who, has in answers.items():
            if isinstance(has, BaseException):
                raise ClusterError(
                    f"{who} has no farref, or another one than we have ({fingerprint()}): {in_a_line(has)}"
                )
            if has != fingerprint():
                raise ClusterError(_differs(who, has))

    def _scheduler(self) -> Any:
        try:
            return self._client.run_on_scheduler(fingerprint)
        except Exception as error:
            return error


def _imported() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(f"--cluster needs Dask; {how_to_install('dask')}") from error
    return distributed


def _started(dask: Any) -> Any:
    """Start a cluster on this machine, a worker for each core. No Ctrl-C reaches its workers."""
    resource_tracker.ensure_running()  # Dask would start it later, and let the signal through
    with undisturbed():
        return dask.LocalCluster(
            n_workers=cores(),
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )


def cores() -> int:
    """Say how many cores this process may use. Only some systems tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _connected(dask: Any, address: str, own: Any) -> Any:
    try:
        return dask.Client(own or address, timeout=ANSWER_S, set_as_default=False, name="farref")
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no scheduler answers at {address}: {in_a_line(error)}") from error


# -- on a worker -------------------------------------------------------------------------------------------------------

_one_at_a_time: Final = threading.Lock()
"""What is kept between units, and how often the collector runs, is of a process: also with several threads it does one unit."""


def _done(wanted: str, work: Callable[..., Result], *given: Any, **named: Any) -> Result:
    """Do a unit, unless our sources differ from those that it was made with: a worker may have come later."""
    if fingerprint() != wanted:
        raise ClusterError(_differs(platform.node(), fingerprint(), wanted))
    with _one_at_a_time:
        return work(*given, **named)


def _differs(who: str, has: str, wanted: str | None = None) -> str:
    return f"{who} has farref {has}, and here is {wanted or fingerprint()}; install the same everywhere"


@cache
def fingerprint() -> str:
    """Name the version, and the sources, of farref in this process, and its Python."""
    top, digest = Path(farref.__file__).parent, hashlib.sha256()
    for folder, inner, names in os.walk(top, followlinks=True):
        inner.sort()
        for name in sorted(one for one in names if one.endswith(".py")):
            path = Path(folder, name)
            digest.update(str(path.relative_to(top)).encode() + b"\0" + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    return f"{farref.__version__}-{digest.hexdigest()[:8]} (Python {python})"
