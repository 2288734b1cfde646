"""Distributed autograd beside an implementation: which steps are faults, what must be refused, what may be left."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Mend
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.network import is_flying
from farref.model.autograd.root import Phase
from farref.model.autograd.worker import Context, is_in_a_pass
from farref.model.autograd.world import Bounds, World, graph_of, pass_of
from farref.model.ids import worker_name
from farref.properties.autograd import always as holds
from farref.properties.autograd.observation import Observation

FAULTS: Final[dict[str, tuple[type, ...]]] = {
    "reordered": (),  # a message is reordered by what overtakes it
    "duplicated": (Duplicate,),
    "dropped": (DropMessage,),
    "timed_out": (act.TimeOut,),
    "failed": (FailCall, act.Raise),
    "died": (act.Crash,),
    "excluded": (Exclude,),
    "refused": (act.Fence,),
    "cut": (Cut,),
    "mended": (Mend,),
}
NEEDS: Final = {
    "duplicated": "duplicates",
    "dropped": "drops",
    "timed_out": "timeouts",
    "failed": "failures",
    "died": "crashes",
    "excluded": "exclusions",
    "refused": "exclusions",
    "cut": "cuts",
    "mended": "cuts",
}


@lru_cache(maxsize=256)
def _to_oneself(bounds: Bounds, place: int) -> list[tuple[int, Deliver[msg.Message]]]:
    graph = bounds.catalogue[place]
    own = {pair for pair in graph.pair_ids if graph.pairs[pair].source == graph.pairs[pair].target}
    kinds = (msg.PropagateGradients, msg.Mark)
    messages = [message for message in bounds.places if isinstance(message, kinds) and message.pair in own]
    return [(bounds.places[message], Deliver(message)) for message in messages]


def prompt(world: World, bounds: Bounds) -> act.Action | None:
    """Give the next gradient or mark that a worker sends to itself: an implementation has taken it in already (A5)."""
    if world.graph is None:
        return None
    waiting = (deliver for place, deliver in _to_oneself(bounds, world.graph) if is_flying(world.network, place))
    return next(waiting, None)


def forbidden(world: World, bounds: Bounds) -> Iterator[act.Action]:
    """List what an application could try now and must be refused: it would change what is decided, or gone (A10, A20, A24)."""
    if world.graph is None:
        return
    for number in bounds.pass_ids:
        record = pass_of(world, number)
        if record.phase is Phase.COMMITTING and record.root not in world.dead:
            yield act.TimeOut(number)
    living = [who for who in bounds.worker_ids if who not in world.dead]
    for who in living:
        if is_in_a_pass(world.workers[who]) or world.workers[who].context is Context.CLOSED:
            yield act.Backward(who)
    if world.workers[CREATOR].context is Context.CLOSED:
        yield act.ReleaseContext()
    for pair in bounds.pair_ids:
        source = world.workers[graph_of(world, bounds).pairs[pair].source]
        if source.context is Context.CLOSED and pair not in source.sent:
            yield act.SendTensors(pair)


def left(world: World, observation: Observation, bounds: Bounds) -> list[str]:
    """Say what is left where nothing more can happen."""
    found = ["a message is under way"] if observation.flying or observation.unanswered else []
    found += [
        f"pass {number} has not ended" for number in bounds.pass_ids if not holds.every_pass_ends(world, number, bounds)
    ]
    for who in bounds.worker_ids:
        if not holds.every_worker_leaves(world, who, bounds):
            found.append(f"{worker_name(who)} is in a pass")
        if not holds.a_released_context_is_forgotten(world, who, bounds):
            found.append(f"the context is on {worker_name(who)}")
    return found
