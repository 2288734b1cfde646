"""All crash points of real processes, one after the other, in one world as long as nothing goes wrong in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from farref.properties.twin.backends.crashes.points import Outcome
from farref.properties.twin.backends.crashes.real.passes import lose_pass, pass_points
from farref.properties.twin.backends.crashes.real.points import STORIES, RealPoint
from farref.properties.twin.backends.crashes.real.references import lose_references, reference_points
from farref.properties.twin.backends.crashes.real.world import World


def real_points() -> list[RealPoint]:
    """List all points: those of references, then those of passes."""
    return reference_points() + pass_points()


def try_real_points(points: Iterable[RealPoint]) -> Iterator[Outcome]:
    """Lose a process at one point after the other. What raises is a problem as any other, and ends the world."""
    world: World | None = None
    try:
        for point in points:
            world = world or World()
            outcome = _tried(world, point)
            if outcome.problems:
                world.close()
                world = None
            yield outcome
    finally:
        if world is not None:
            world.close()


def _tried(world: World, point: RealPoint) -> Outcome:
    lose = lose_references if point.story in STORIES else lose_pass
    problems: list[str] = []
    try:
        problems += lose(world, point)
        if not problems:
            world.renew()
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}")
    return Outcome(point, point.place, tuple(problems))
