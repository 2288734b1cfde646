"""A backend that can hold its messages, driven beside the model one step at a time."""

from __future__ import annotations

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.document import Script
from farref.properties.conformance.kit.steps import LOCKSTEP
from farref.properties.conformance.kit.world import ClauseBroken, World
from farref.properties.conformance.lockstep.campaign import drive, replay_file
from farref.properties.conformance.lockstep.told import said

REPLAY_FILE = "r33_lockstep.json"


@check("R33.lockstep", needs=[LOCKSTEP], alone=True, lockstep=True)
def in_lockstep(world: World) -> None:
    """Whatever arrives, is lost, comes twice or fails, in any order: after each step tables and messages are the model's."""
    found = drive(world)
    if found is not None:
        how = f"{found.headline} after {len(found.actions)} steps: {said(found)}"
        raise ClauseBroken(how, Script(REPLAY_FILE, replay_file(found)))
