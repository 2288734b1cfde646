"""Units of work, and whoever does them.

`Workers` are an executor of `concurrent.futures`: a unit is submitted, and its future gives the result. There are three: this
process (`Here`), a pool of processes (`pool.py`) and a Dask cluster (`cluster.py`). No unit depends on another, and their
results are taken in the order in which the units were submitted. So nothing depends on who is faster.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, wait
from typing import Any, Final, TypeVar

from farref.properties.work.kept import release

AHEAD: Final = 2
"""So many units for each worker are under way or wait, so that nobody is idle while results are taken."""

LOOK_S: Final = 1.0
"""How often somebody looks whether the workers are still there, while a result is awaited."""

Unit = TypeVar("Unit")
Result = TypeVar("Result")


class WorkersLost(Exception):  # noqa: N818 (it says what happened)
    """Nobody is left who could do the work, or nobody can do this unit; the message says why, in one line."""


class Workers(Executor):
    """Whoever does units of work."""

    unit_seconds: float = 0.0
    """How long a unit should take; 0 for units that are as small as they can be."""

    @property
    def count(self) -> int:
        """How many units are done at the same time."""
        return 1

    @property
    def ahead(self) -> int:
        """How many units are submitted before the first result is awaited."""
        return AHEAD * self.count

    def look(self) -> None:
        """See that somebody is there; raise `WorkersLost` if nobody is, and nobody will be."""

    def told(self, error: BaseException) -> BaseException:
        """Say what an error of a unit means, in our own words where we have some."""
        return error


class Here(Workers):
    """This process. A unit is done when it is submitted."""

    @property
    def ahead(self) -> int:
        """A unit that is submitted is done, so no other is needed before its result is taken."""
        return 1

    def submit(self, work: Callable[..., Result], /, *given: Any, **named: Any) -> Future[Result]:
        """Do a unit."""
        future = Future[Result]()
        future.set_result(work(*given, **named))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 (the signature is Executor's)
        """Give back what was kept."""
        release()


def in_order(workers: Workers, work: Callable[[Unit], Result], units: Iterable[Unit]) -> Generator[Result]:
    """Give the results of some work on each of some units, in the order of the units. A unit is made when it is needed."""
    waiting, rest = deque[Future[Result]](), iter(units)
    try:
        while True:
            while len(waiting) < workers.ahead and (unit := next(rest, None)) is not None:
                waiting.append(workers.submit(work, unit))
            if not waiting:
                return
            yield _result(workers, waiting.popleft())
    finally:
        for future in waiting:
            future.cancel()


def _result(workers: Workers, future: Future[Result]) -> Result:
    while not wait([future], LOOK_S).done:
        workers.look()
    try:
        return future.result()
    except BaseException as error:
        raise workers.told(error) from error.__cause__
