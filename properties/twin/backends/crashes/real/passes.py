"""Passes between processes: a worker is lost at a message of one, and what follows is held against A21 and A29."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.impl.errors import RpcError
from farref.properties.twin.backends.crashes.real import far
from farref.properties.twin.backends.crashes.real.points import RealPoint, points_of
from farref.properties.twin.backends.crashes.real.world import World

LINES: Final = {
    "pass": (
        "A's ForwardCall to B",
        "B's ForwardCall to C",
        "C's ForwardCall to B",
        "B's ForwardCall to A",
        "A's PropagateGradients to B",
        "B's PropagateGradients to C",
        "B's Report to A",
        "C's Report to A",
        "A's Commit to B",
        "A's Commit to C",
        "B's Committed to A",
        "C's Committed to A",
        "A's CleanupContext to B",
        "A's CleanupContext to C",
        "B's Closed to A",
        "C's Closed to A",
        "A's Forget to B",
        "A's Forget to C",
    ),
    "unused": ("A's Seek to B", "B's Mark to C", "A's Resume to B", "A's Resume to C"),
    "other root": ("B's PropagateGradients to C", "C's Report to B", "B's Commit to C", "C's Committed to B"),
}
"""The messages of a pass, and those that the other two have beside them."""


def pass_points() -> list[RealPoint]:
    """List every point of every pass."""
    return [point for story, lines in LINES.items() for point in points_of(story, lines)]


def lose_pass(world: World, point: RealPoint) -> Iterator[str]:
    """Make a pass in which a worker is lost, and say what is wrong. The next one, with its successor, is right."""
    for name in far.RIGHT:
        world.ask(name, far.parameter)
    world.arm(point)
    try:
        told, seen = world.ask("A", far.run_pass, point.story)
    except RpcError as error:  # A is lost, or the answer of a member
        told, seen = f"{type(error).__name__}: {error}", {}
        if world.wait(world.is_lost) and point.victim != "A":
            yield f"A answers with {told}"
    world.wait(world.is_lost)
    if world.lost is None:
        yield f"nobody is lost: the pass never comes to this message (it ended with {told or 'success'})"
        return
    yield from _judge(point, told, seen)
    for name in world.members():
        world.ask(name, far.drop_all)
    if not world.wait(lambda: all(tables.is_empty() for tables in world.tables().values())):
        yield from (f"something is left: {tables}" for tables in world.tables().values() if not tables.is_empty())
    if point.moment.stops and not world.wake():
        yield "whoever was stopped and is excluded goes on"
    world.renew()
    for name in far.RIGHT:
        world.ask(name, far.parameter)
    if (after := tuple(world.ask("A", far.run_pass, point.story))) != ("", far.RIGHT):
        yield f"the next pass ended with {after}"


def _judge(point: RealPoint, told: str, seen: dict[str, float | None]) -> Iterator[str]:
    """A pass that failed names the lost, and leaves no gradient; one that did not leaves every gradient that is right (A21)."""
    root = "B" if point.story == "other root" else "A"
    if point.victim in ("A", root):  # nobody is told how the pass ended; what was committed before stays (A21)
        return
    kept = {name: value for name, value in seen.items() if name != point.victim}
    if told and "died" not in told:
        yield f"the pass failed, and does not say who was lost: {told}"
    if told and any(value is not None for value in kept.values()):
        yield f"the pass failed with {told}, and of it {kept} is seen"
    if not told and any(value != far.RIGHT[name] for name, value in kept.items()):
        yield f"the pass ended well, and of it {kept} is seen"
