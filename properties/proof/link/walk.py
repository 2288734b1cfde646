"""Going through the worlds of the model, with what the proof has to know besides."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from farref.model.rref.actions import Action
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND, RRefRules
from farref.model.rref.world import Bounds, World
from farref.properties.proof.link.steps import remote_after
from farref.properties.proof.link.worlds import Remote

Moment = tuple[World, Remote]
Move = tuple[World, Remote, Action, World]


def moments(bounds: Bounds, rules: RRefRules = SOUND) -> Iterator[tuple[Moment, list[Move]]]:
    """Go through the worlds of a model, near ones first, each with the steps that lead out of it."""
    model = RRefModel(bounds, rules)
    start: Moment = (model.initial, frozenset())
    seen, queue = {start}, deque([start])
    while queue:
        world, remote = queue.popleft()
        steps = [(action, model.step(world, action)) for action in model.actions]
        moves = [(world, remote, action, after) for action, after in steps if after is not None]
        yield (world, remote), moves
        for _, _, action, after in moves:
            one = (after, remote_after(action, remote))
            if one not in seen:
                seen.add(one)
                queue.append(one)
