"""Stories of references between processes: a worker is lost at a message, and what follows is held against R35 to R46."""

from __future__ import annotations

from collections.abc import Iterator

from farref.impl.core.ids import WorkerId
from farref.impl.core.observe import WorkerTables
from farref.properties.twin.backends.crashes.real import far
from farref.properties.twin.backends.crashes.real.points import STORIES, RealPoint, points_of
from farref.properties.twin.backends.crashes.real.world import World


def reference_points() -> list[RealPoint]:
    """List every point of every story."""
    return [point for story in STORIES.values() for point in points_of(story.name, story.steps)]


def lose_references(world: World, point: RealPoint) -> Iterator[str]:
    """Play a story in which a worker is lost, and say what is wrong."""
    world.arm(point)
    is_judged = False
    for line in STORIES[point.story].steps:
        world.play(line)
        if world.is_lost() and not is_judged:
            is_judged = True
            yield from judge(world)
    world.wait(world.is_lost)
    if world.lost is None:
        yield "nobody is lost: the story never comes to this message"
        return
    yield from judge(world)
    for name in world.members():
        world.ask(name, far.drop_all)
    if not world.wait(lambda: all(tables.is_empty() for tables in world.tables().values())):
        yield from (f"something is left: {tables}" for tables in world.tables().values() if not tables.is_empty())
    if point.moment.stops and not world.wake():
        yield "whoever was stopped and is excluded goes on"


def judge(world: World) -> Iterator[str]:
    """At rest each owner counts exactly the users there are, nothing is kept for the lost, and every value is there (R46)."""
    world.wait(lambda: not list(_counts(world.tables())))
    yield from _counts(world.tables())
    for name in world.members():
        for came, owner, made_by, told in world.ask(name, far.fetch, "x"):
            if not came and world.lost not in (owner, made_by):
                yield f"{name} holds a value of worker {owner}, and does not get it: {told}"


def _counts(tables: dict[WorkerId, WorkerTables]) -> Iterator[str]:
    newest = tables[WorkerId(0)].view
    for who, seen in tables.items():
        held = {(one.fork, user) for user, users in tables.items() for one in users.users if one.owner == who}
        counted = {pair for entry in seen.entries for pair in entry.forks}
        if held != counted:
            yield f"worker {who} counts {sorted(counted)}, and {sorted(held)} are held"
        if seen.buried != newest or any(entry.kept_for for entry in seen.entries):
            yield f"worker {who} keeps something for the lost: {seen}"
        if seen.unanswered:
            yield f"worker {who} waits for answers: {seen.unanswered}"
