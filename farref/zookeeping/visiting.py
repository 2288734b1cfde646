"""How much of a world engines visit.

A world is small here, so that the number of its reachable states is known: the check counts them. An engine has visited a state
when the model beside the implementation stood in it, and the two looked the same. States are compared as the model's states,
which have one form each. A few cannot be visited: the implementation takes some steps together that are two in the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any, Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, run_state_machine_as_test

from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.checker import fast
from farref.model.rref.world import Bounds as RRefBounds
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import protocol_of
from farref.properties.twin.backend import Backend
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.stepper import Stepper
from farref.properties.twin.twin import Twin
from farref.zookeeping.driven import PROCESSES, SEED, SIMULATED

WORLDS: Final[dict[str, Any]] = {
    "rref": RRefBounds(workers=2, forks=2, drops=1, duplicates=1),
    "autograd": AutogradBounds(graph="relay", passes=2, timeouts=1),
}
"""The world of each protocol that is looked at."""

GROWTH: Final = 1.25
"""A point of a curve is kept when the number of runs has grown by so much."""


@dataclass(frozen=True)
class Point:
    """How far an engine was after some runs."""

    runs: int
    seconds: float
    states: int


def reachable(bounds: Any) -> int:
    """Count the reachable states of a world."""
    about = protocol_of(bounds)
    return fast.check(about.model(bounds, about.profiles["sound"]), ()).distinct


def curve(progress: Iterator[tuple[int, int]], marks: Iterable[float]) -> list[Point]:
    """Follow how many states were visited after how many runs. Each mark, in seconds, has a point; the last ends it."""
    begin, points, due, left = time.monotonic(), list[Point](), 1.0, sorted(marks)
    for runs, states in progress:
        now = time.monotonic() - begin
        if runs >= due or now >= left[0]:
            points.append(Point(runs, round(now, 2), states))
            due = runs * GROWTH
        left = [mark for mark in left if mark > now]
        if not left:
            break
    return points


def driven(make: Callable[[], Backend], bounds: Any) -> Iterator[tuple[int, int]]:
    """Take schedules in a world; say after each how many there were, and how many states were visited."""
    about, visited = protocol_of(bounds), set[Hashable]()
    with closing(make()) as backend:
        for number in count():
            for _, world in steps(about, backend, number, asdict(bounds)):
                visited.add(world)
            yield number + 1, len(visited)


def steps(
    about: AnyProtocol, backend: Backend, number: int, fixed: dict[str, Any], world: Any = None
) -> Iterator[tuple[str, Any]]:
    """Take a schedule, model and backend side by side. Give each step that both took alike, and where it led.

    A world may be given that no schedule draws.
    """
    schedule = about.draw(SEED, number, fixed)
    schedule = schedule if world is None else replace(schedule, bounds=world)
    backend.restless = schedule.restless
    twin = Twin(schedule.bounds, backend, schedule.judging())
    stepper = Stepper(schedule, schedule.random())
    yield "", twin.world
    while (action := stepper.draw(twin.world)) is not None:
        before = len(twin.actions)
        twin.step(action, stepper.after)
        for taken in twin.actions[before:]:
            yield taken.kind, twin.world
    twin.check_end()


def by_hypothesis(bounds: Any) -> Iterator[tuple[int, int]]:
    """Let Hypothesis draw runs in a world, some at a time; say after each turn how many, and how many states were visited."""
    visited, begun = set[Hashable](), 0
    about = protocol_of(bounds)
    twin: type[Any] = twin_machine(SIMULATED[about.name])

    class Visiting(twin):  # type: ignore[misc]
        worlds = st.just(asdict(bounds))

        def __init__(self) -> None:
            nonlocal begun
            begun += 1
            super().__init__()

        @invariant()
        def visits(self) -> None:
            """Note where the run stands."""
            visited.add(self.twin.world)

    while True:
        run_state_machine_as_test(Visiting, settings=SOME)
        yield begun, len(visited)


SOME: Final = settings(
    max_examples=10,
    stateful_step_count=40,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def coverage(marks: Sequence[float], say: Callable[[str], None]) -> dict[str, Any]:
    """Measure for each protocol and engine how much of its world is visited, until the last mark for each."""
    found: dict[str, Any] = {}
    for name, bounds in WORLDS.items():
        say(f"coverage of {name}: how many states there are")
        begin = time.monotonic()
        found[name] = {"world": flags(bounds), "states": reachable(bounds), "curves": {}}
        found[name]["checked_s"] = round(time.monotonic() - begin, 2)
        engines = {
            "simulated": driven(SIMULATED[name], bounds),
            "hypothesis": by_hypothesis(bounds),
            "processes": driven(PROCESSES[name], bounds),
        }
        for engine, progress in engines.items():
            say(f"coverage of {name} by {engine}")
            points = curve(progress, marks)
            found[name]["curves"][engine] = [asdict(one) for one in points]
            progress.close()  # type: ignore[attr-defined]
    return found


def flags(bounds: Any) -> str:
    """Say which world it is, as the flags of `farref check`."""
    default = type(bounds)()
    return flags_of({name: value for name, value in asdict(bounds).items() if value != getattr(default, name)})


def flags_of(values: Mapping[str, Any]) -> str:
    """Write bounds as flags."""
    words = (f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}") for name, value in values.items())
    return " ".join(words)
