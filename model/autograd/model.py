"""Distributed autograd as a model: where it starts, everything that could ever happen, and what then follows.

Read in this order: `graphs.py` (what was recorded, and the gradients it should give), `messages.py` (what is said),
`addressing.py` (by whom, and to whom), `worker.py`, `task.py`, `root.py` and `release.py` (the four machines, with the
reasons), `rules.py` (what could have been decided otherwise), `network.py` (what may go wrong), `steps.py` (how it is put
together).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import ClassVar

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, Mend, Retry
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.rules import SOUND, AutogradRules
from farref.model.autograd.steps import step
from farref.model.autograd.world import Bounds, World, empty_world
from farref.model.protocol_model import ProtocolModel


def all_actions(bounds: Bounds, rules: AutogradRules) -> Iterator[act.Action]:
    """List every action that these bounds and rules allow to happen at some time."""
    if len(bounds.catalogue) > 1:
        yield from (act.Choose(place) for place in range(len(bounds.catalogue)))
    if bounds.forward:
        yield from map(act.SendTensors, bounds.pair_ids)
    if bounds.forward and bounds.detached:
        yield from map(act.SendDetached, bounds.pair_ids)
    roots = frozenset().union(*(graph.roots for graph in bounds.catalogue))
    yield from map(act.Backward, sorted(roots))
    if bounds.timeouts:
        yield from map(act.TimeOut, bounds.pass_ids)
    if bounds.release:
        yield act.ReleaseContext()
    if bounds.crashes:
        yield from map(act.Crash, bounds.worker_ids)
        yield from (act.Notice(*two) for two in permutations(bounds.worker_ids, 2))
    if bounds.exclusions:
        yield from (kind(worker) for kind in (Exclude, Install, act.Fence) for worker in bounds.worker_ids)
    if bounds.cuts:
        yield from (Cut(*two) for two in combinations(bounds.worker_ids, 2))
    if bounds.cuts and rules.only_views_declare_dead:
        yield from (Mend(*two) for two in combinations(bounds.worker_ids, 2))
    for message in bounds.places:
        yield from _message_actions(message, bounds, rules)


def _message_actions(message: msg.Message, bounds: Bounds, rules: AutogradRules) -> Iterator[act.Action]:
    yield Deliver(message)
    if isinstance(message, msg.ForwardCall):
        if bounds.failures:
            yield FailCall(message)
        return
    if bounds.failures and isinstance(message, msg.PropagateGradients):
        yield act.Raise(message)
    if bounds.duplicates:
        yield Duplicate(message)
    if bounds.drops:
        yield DropMessage(message)
    if bounds.drops and rules.retries_until_answered:
        yield Retry(message)


@dataclass(frozen=True)
class AutogradModel(ProtocolModel[Bounds, AutogradRules, World, act.Action]):
    """Distributed autograd under some rules, in a world of some size. In a graph every worker has its own place."""

    rules: AutogradRules = SOUND

    empty_world: ClassVar = staticmethod(empty_world)
    all_actions: ClassVar = staticmethod(all_actions)
    take: ClassVar = staticmethod(step)
