"""What must always hold is evaluated after every step, and only where the step can have changed it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.safety import Safety
from farref.properties.twin.stepper import Stepper
from farref.properties.violation import EVERYTHING, Violation

RULES = [(protocol.name, rule) for protocol in PROTOCOLS.values() for rule in protocol.rules]
SCHEDULES = 6


def broken_run(protocol: AnyProtocol, rule: str, number: int) -> list[Any]:
    """Take a schedule in the protocol without a rule, and give the worlds it went through."""
    schedule = protocol.draw(1, number, {})
    stepper = Stepper(schedule, schedule.random())
    stepper.model = protocol.model(schedule.bounds, replace(protocol.profiles["sound"], **{rule: False}))
    worlds = [stepper.model.initial]
    while stepper.draw(worlds[-1]) is not None:
        worlds.append(stepper.after)
    return worlds


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_a_case_changes_only_where_a_step_touched_it(name: str, rule: str) -> None:
    """Where a rule is off, properties break. Whichever case breaks, or holds again, is about something that was touched."""
    protocol = PROTOCOLS[name]
    for number in range(SCHEDULES):
        bounds = protocol.draw(1, number, {}).bounds
        safety, worlds = Safety(protocol, bounds), broken_run(protocol, rule, number)
        everything = [set(safety.violated(world, safety.names)) for world in worlds]
        for place, world in enumerate(worlds[1:], start=1):
            touched = safety.touched(worlds[place - 1], world)
            changed = {one.about for one in everything[place - 1] ^ everything[place]}
            assert changed <= {*touched, EVERYTHING}


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_whatever_breaks_is_seen_in_the_step_that_breaks_it(protocol: AnyProtocol) -> None:
    found: set[str] = set()
    for rule in protocol.rules:
        for number in range(SCHEDULES):
            bounds = protocol.draw(1, number, {}).bounds
            safety, worlds = Safety(protocol, bounds), broken_run(protocol, rule, number)
            for before, after in pairwise(worlds):
                seen = safety.violated(after, safety.touched(before, after))
                found |= {one.property for one in seen}
    assert len(found) >= 6, found


def test_a_violation_names_property_clause_whom_and_the_sentence() -> None:
    told = str(Violation("P8", "R31", "A confirmed user is counted.", "fork f1"))
    assert told == "P8 (R31) is violated for fork f1: A confirmed user is counted."
