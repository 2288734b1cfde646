"""The reachable steps of small worlds, for tests that look at every one of them."""

from __future__ import annotations

from collections.abc import Iterator

from farref.model.checker.interface import Action, Model, State


def steps(model: Model, states_max: int | None = None) -> Iterator[tuple[State, Action, State]]:
    """List every step from the reachable states, or from those found first: the state, the action, the state after it."""
    found = {model.initial: None}
    waiting = [model.initial]
    for state in waiting:
        for action in model.actions:
            after = model.step(state, action)
            if after is None:
                continue
            yield state, action, after
            if after not in found and (states_max is None or len(waiting) < states_max):
                found[after] = None
                waiting.append(after)
