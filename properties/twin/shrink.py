"""Make the run of a disagreement shorter: leave steps out as long as model and backend still disagree.

Its world is made smaller, if its protocol knows how, as that spares most. Steps that cannot happen without the ones left out
are left out too. Large pieces are tried first, then single steps, until no step can be spared. What remains is not always a
shortest run, and always a real one: it was taken.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from farref.model.checker.interface import Action
from farref.properties.protocols import protocol_of
from farref.properties.twin.backend import Backend
from farref.properties.twin.twin import Disagreement, Twin

SECONDS_MAX: Final = 20.0


def shrink(found: Disagreement, backend: Backend, *, seconds_max: float = SECONDS_MAX) -> Disagreement:
    """Find a shorter run that ends in a disagreement, in a world that is as small as possible."""
    deadline, shortest = time.monotonic() + seconds_max, found
    while True:
        while (simpler := _in_a_smaller_world(shortest, backend, deadline)) is not None:
            shortest = simpler
        shorter = _with_fewer_steps(shortest, backend, deadline)
        if len(shorter.actions) == len(shortest.actions):
            return shorter
        shortest = shorter


def _with_fewer_steps(found: Disagreement, backend: Backend, deadline: float) -> Disagreement:
    shortest, size = found, max(1, len(found.actions) // 2)
    while time.monotonic() < deadline:
        shorter = _without_a_piece(shortest, size, backend)
        if shorter is not None:
            shortest = shorter
        elif size == 1:
            break
        else:
            size //= 2
    return shortest


def _in_a_smaller_world(found: Disagreement, backend: Backend, deadline: float) -> Disagreement | None:
    for bounds, actions in protocol_of(found.bounds).smaller(found.bounds, found.actions):
        again = disagrees(bounds, backend, actions) if time.monotonic() < deadline else None
        if again is not None and len(again.actions) <= len(found.actions):
            return again
    return None


def _without_a_piece(found: Disagreement, size: int, backend: Backend) -> Disagreement | None:
    """Leave out each piece of some size in turn, the last first: what happens late matters least to the rest."""
    actions = found.actions
    for end in range(len(actions), 0, -size):
        rest = (*actions[: max(0, end - size)], *actions[end:])
        again = disagrees(found.bounds, backend, rest)
        if again is not None and len(again.actions) < len(actions):
            return again
    return None


def disagrees(bounds: Any, backend: Backend, actions: Iterable[Action]) -> Disagreement | None:
    """Take those of some steps that can happen, one after the other, and give the disagreement they lead to, if any."""
    try:
        twin = Twin(bounds, backend)
        for action in actions:
            if twin.can(action):
                twin.step(action)
    except Disagreement as disagreement:
        return disagreement
    return None
