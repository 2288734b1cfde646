"""All crash points, one after the other, in an order that does not change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from farref.properties.twin.backends.crashes.passes import pass_points, try_pass
from farref.properties.twin.backends.crashes.points import Outcome, Point
from farref.properties.twin.backends.crashes.references import STORIES, reference_points, try_references


def crash_points() -> list[Point]:
    """List all points: those of references, then those of passes."""
    return reference_points() + pass_points()


def try_point(point: Point) -> Outcome:
    """Lose a worker at one point on the simulated network. What raises is a problem as any other."""
    attempt: Callable[[Point], Outcome] = try_references if point.story in STORIES else try_pass
    try:
        return attempt(point)
    except Exception as error:
        return Outcome(point, point.name, (f"{type(error).__name__}: {error}",))


def try_points(points: Iterable[Point]) -> Iterator[Outcome]:
    """Try one point after the other."""
    return map(try_point, points)
