"""The campaign of R33.lockstep: schedules from a seed, taken by the model and by a backend behind an adapter."""

from __future__ import annotations

from farref.properties.conformance.kit.world import World
from farref.properties.conformance.lockstep.adapted import Driven
from farref.properties.conformance.lockstep.stepped import Stepped
from farref.properties.conformance.lockstep.told import tell
from farref.properties.traces.disagreement import record_disagreement
from farref.properties.traces.file import encode
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import disagrees, shrink
from farref.properties.twin.tally import Tally
from farref.properties.twin.twin import Disagreement


def drive(world: World) -> Disagreement | None:
    """Drive a backend through the schedules of a seed; give the first disagreement, shrunk, and tell it as a story."""

    def make() -> Stepped:  # with an adapter of its own, which may end or hang: the one of the check tells the story
        return Driven(world.session.command, world.session.identity.name)

    world.session.ask("stop", {}).wait(world.deadline)
    tally = campaign(make, seed=world.seed, schedules_max=world.schedules, protocol=Stepped.protocol)
    if tally.stopped:
        raise KeyboardInterrupt
    return None if tally.disagreement is None else _shrunk(world, tally, tally.disagreement, make())


def _shrunk(world: World, tally: Tally, found: Disagreement, backend: Stepped) -> Disagreement:
    assert tally.schedule is not None
    backend.restless = tally.schedule.restless and disagrees(found.bounds, backend, found.actions) is None
    shortest = shrink(found, backend)
    backend.close()
    tell(world, shortest, restless=backend.restless)
    return shortest


def replay_file(found: Disagreement) -> str:
    """Write a run so that `farref replay` takes it again."""
    return encode(record_disagreement(found)).decode()
