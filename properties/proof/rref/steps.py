"""Everything that can happen. Each step is a function that says when it can be taken and which state it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.proof.rref import application, calls, controls
from farref.properties.proof.rref.point import POINT, Point, Step
from farref.properties.proof.rref.rules import SOUND, Rules
from farref.properties.proof.rref.state import State

STEPS: Final = (
    application.create_local,
    application.create_on_self,
    application.create_remote,
    application.finish_function,
    application.owner_share,
    application.user_share,
    application.fetch_value,
    application.abandon_fetch,
    application.time_out_creation,
    application.let_go,
    application.owner_let_go,
    application.end_call,
    calls.remote_call,
    calls.call,
    calls.result,
    calls.user_accept,
    calls.remote_failed,
    calls.call_failed,
    calls.fetch_call,
    calls.fetch_return,
    calls.fetch_failed,
    calls.fail_call,
    controls.deliver,
    controls.acknowledge,
    controls.lose,
    controls.retry,
)


def steps(state: State, rules: Rules = SOUND, point: Point = POINT) -> Iterator[Step]:
    """List every way in which every step can go."""
    for step in STEPS:
        yield from step(state, point, rules)
