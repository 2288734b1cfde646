"""A campaign: many seeded schedules, each taken by the model and by a backend in lockstep, to the end.

Everything follows from the seed: the same seed and number of schedules give the same steps, and the same digest of them,
whether one process takes them, several, or a cluster. What a campaign has to show for itself is counted: how often each
fault happened, and which of the awkward situations of `sometimes.py` it was in. A campaign in which an enabled fault never
happened has shown nothing about it and is no success. So time alone does not end one that has hardly begun.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.backend import Backend, FreeBackend, MakeBackend, protocol_for
from farref.properties.twin.schedule import Schedule
from farref.properties.twin.stepper import Stepper
from farref.properties.twin.tally import Done, Tally, Watch
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.work.hiring import hire
from farref.properties.work.kept import keeping
from farref.properties.work.ranges import Ranges
from farref.properties.work.units import Workers, WorkersLost, in_order

ENOUGH: Final = 40
"""Schedules in which every fault happens that can: on an idle machine any backend takes so many in a few seconds."""

COLLECTED: Final = 20_000
"""How many objects are made until the collector looks for cycles. As often as usual it would take a fifth of the time."""

OVERTIME_MAX: Final = 10.0
"""How many times as long as it should a campaign may last."""


def campaign(
    make_backend: MakeBackend,
    *,
    seed: int,
    seconds_max: float | None = None,
    schedules_max: int | None = None,
    first: int = 0,
    fixed: dict[str, Any] | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    protocol: str | None = None,
    on_schedule: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Run schedules until one disagrees, or time or number is used up, in this process, in several or on a cluster.

    The protocol is named where `make_backend` is not a class that names it, as `SimulatedBackend` does.
    """
    fixed = {**getattr(make_backend, "fixed", {}), **(fixed or {})}
    tally, begin = Tally(protocol_for(make_backend, protocol), seed, fixed), time.monotonic()
    tally.cannot = getattr(make_backend, "cannot", frozenset())
    tally.draws = getattr(make_backend, "draws", lambda _: ())(tally.fixed)
    last = None if schedules_max is None else first + schedules_max
    try:
        with hire(jobs, cluster) as workers, closing(_taken(workers, make_backend, tally, first, last)) as schedules:
            for done in schedules:
                tally.add(done)
                tally.seconds = time.monotonic() - begin
                on_schedule(tally)
                if tally.disagreement or (seconds_max is not None and _is_over(tally, seconds_max)):
                    break
    except KeyboardInterrupt:
        tally.stopped = "interrupted"
    except WorkersLost as lost:
        tally.stopped = str(lost)
    except Exception:
        if (
            tally.disagreement is None
        ):  # else something went wrong while all was closed, and what was found matters more
            raise
    return tally


def _taken(workers: Workers, make_backend: MakeBackend, tally: Tally, first: int, last: int | None) -> Generator[Done]:
    """Let workers take the schedules from one number to another, and give them in the order of their numbers."""
    ranges, taker = (
        Ranges(workers, first, last),
        ScheduleTaker(tally.protocol.name, make_backend, tally.seed, tally.fixed),
    )
    units = ((numbers, frozenset(tally.reached)) for numbers in ranges)
    with closing(in_order(workers, taker, units)) as pieces:
        for piece, seconds in pieces:
            ranges.learn(len(piece), seconds)
            tally.workers = workers.count
            yield from piece


def _is_over(tally: Tally, seconds_max: float) -> bool:
    """Say whether the time is up. Where too little has happened by then, as on a busy machine, the campaign goes on a while."""
    if tally.seconds < seconds_max:
        return False
    goes_on = tally.never_fired and tally.schedules < ENOUGH and tally.seconds < OVERTIME_MAX * seconds_max
    tally.overtime |= bool(goes_on)
    return not goes_on


@dataclass(frozen=True)
class ScheduleTaker:
    """Takes the schedules of a campaign, in whatever process it finds itself."""

    protocol: str
    make_backend: MakeBackend
    seed: int
    fixed: dict[str, Any]

    def __call__(self, unit: tuple[Iterable[int], frozenset[str]]) -> tuple[list[Done], float]:
        """Take the schedules with some numbers, to the first that disagrees; say how long it took.

        The situations that earlier schedules were in are known, and not looked for any more.
        """
        numbers, known = unit
        thresholds, done = gc.get_threshold(), list[Done]()
        gc.set_threshold(COLLECTED, *thresholds[1:])
        try:
            with keeping((self.protocol, self.make_backend), self.make_backend) as backend:
                begin = time.monotonic()
                for one in self._take(numbers, backend, set(known)):
                    done.append(one)
                    if one.disagreement is not None:
                        break
                return done, time.monotonic() - begin
        finally:
            gc.set_threshold(*thresholds)

    def _take(self, numbers: Iterable[int], backend: Backend | FreeBackend, known: set[str]) -> Iterator[Done]:
        draw = PROTOCOLS[self.protocol].draw
        for number in numbers:
            schedule = draw(self.seed, number, self.fixed)
            if isinstance(backend, FreeBackend):
                done: Done = backend.take(schedule)
            else:
                done = take_schedule(schedule, backend, known)
            known |= done.reached
            yield done


def take_schedule(schedule: Schedule, backend: Backend, known: set[str]) -> Done:
    """Take one schedule to its end, or to a disagreement; of situations, look for those that are not known yet."""
    done, digest = Done(schedule), hashlib.sha256(repr(schedule).encode())
    backend.restless = schedule.restless
    try:
        twin = Twin(schedule.bounds, backend, schedule.judging())
        stepper, watch = Stepper(schedule, schedule.random()), Watch(schedule.bounds, done, known)
        while (action := stepper.draw(twin.world)) is not None:
            digest.update(str(action).encode())
            done.steps += 1
            twin.step(action, stepper.after)
            done.judged = twin.judged
            watch.note(action, twin.world, twin.observation)
        twin.check_end()
    except Disagreement as disagreement:
        done.disagreement = disagreement
    done.digest = digest.digest()
    return done
