"""Distributed autograd as campaigns see it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.ids import CREATOR, PassId, worker_name
from farref.model.autograd.network import is_flying
from farref.model.autograd.root import Phase
from farref.model.autograd.spelling import find_graph
from farref.model.autograd.worker import Context, is_in_a_pass
from farref.model.autograd.world import EVERY, Bounds, World, graph_of, pass_of, seed_of
from farref.properties.autograd import always as holds
from farref.properties.autograd.candidates import SORTS, Candidates
from farref.properties.autograd.limits import complaint, limits_of
from farref.properties.autograd.observation import Observation, lines
from farref.properties.autograd.observer import ModelObserver
from farref.properties.autograd.schedules import EXACT_MAX, PASSES_MAX, draw_schedule, heaviest, is_begun_by_creator
from farref.properties.autograd.smaller import smaller
from farref.properties.autograd.sometimes import autograd_situations
from farref.properties.protocol import AUTOGRAD
from farref.properties.twin.schedule import Exercise

FAULTS: Final[dict[str, tuple[type, ...]]] = {
    "reordered": (),  # a message is reordered by what overtakes it
    "duplicated": (act.Duplicate,),
    "dropped": (act.DropMessage,),
    "timed_out": (act.TimeOut,),
    "failed": (act.FailCall, act.Raise),
    "died": (act.Crash,),
}
NEEDS: Final = {
    "duplicated": "duplicates",
    "dropped": "drops",
    "timed_out": "timeouts",
    "failed": "failures",
    "died": "crashes",
}
EVERYTHING: Final = Bounds("relay", smart=True, forward=True, release=True)


@lru_cache(maxsize=256)
def _to_oneself(bounds: Bounds, place: int) -> list[tuple[int, act.Deliver]]:
    graph = bounds.catalogue[place]
    own = {pair for pair in graph.pair_ids if graph.pairs[pair].source == graph.pairs[pair].target}
    kinds = (msg.PropagateGradients, msg.Mark)
    messages = [message for message in bounds.places if isinstance(message, kinds) and message.pair in own]
    return [(bounds.places[message], act.Deliver(message)) for message in messages]


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


def _broken(world: World, bounds: Bounds) -> list[str]:
    """Say where a gradient is not what the graph alone says it must be."""
    if world.graph is None:
        return []
    gradients = (
        holds.one_pass_gives_the_gradient,
        holds.passes_add_up,
        holds.a_failed_pass_leaves_nothing_to_others,
        holds.a_failed_pass_shows_nothing,
    )
    return [
        f"the gradient on {worker_name(who)} is {world.workers[who].gradient}, which is not that of one process"
        for who in bounds.worker_ids
        if not all(holds(world, who, bounds) for holds in gradients)
    ]


def _left(world: World, observation: Observation, bounds: Bounds) -> list[str]:
    found = ["a message is under way"] if observation.flying or observation.unanswered else []
    found += [f"pass {number} has not ended" for number in bounds.pass_ids if not holds.every_pass_ends(world, number)]
    for who in bounds.worker_ids:
        if not holds.every_worker_leaves(world, who):
            found.append(f"{worker_name(who)} is in a pass")
        if not holds.a_released_context_is_forgotten(world, who):
            found.append(f"the context is on {worker_name(who)}")
    return found


def _unfit(fixed: dict[str, Any]) -> str | None:
    """Say what is wrong with bounds that are the same in all schedules. Workers and pairs are those of the programs drawn."""
    sizes = {name: fixed[name] for name in ("workers", "pairs") if name in fixed}
    for name, value in sizes.items():
        smallest, largest = limits_of(name)
        if not smallest <= value <= largest:
            return f"{name} is {value}; allowed is {smallest} to {largest}"
    graph = fixed.get("graph")
    if graph == EVERY:
        return "a schedule has one graph; leave out --graph to have it drawn"
    if graph is not None and sizes:
        return f"graph {graph!r} has its own workers and pairs; leave out --workers and --pairs"
    rest = {name: value for name, value in fixed.items() if name not in sizes}
    return complaint(Bounds(**{"graph": "relay", "forward": True, **rest})) or (graph and _unfit_graph(fixed))


def _unfit_graph(fixed: dict[str, Any]) -> str | None:
    graph = find_graph(fixed["graph"])
    if heaviest(graph) * seed_of(PassId(fixed.get("passes", PASSES_MAX))) > EXACT_MAX:
        return f"the gradients of graph {graph.name!r} outgrow what floating-point numbers hold exactly"
    if (fixed.get("forward") or fixed.get("release")) and not is_begun_by_creator(graph):
        return f"in graph {graph.name!r} somebody calls whom nobody has called; leave out --forward and --release"
    return None


AUTOGRAD_EXERCISE: Final = Exercise(
    about=AUTOGRAD,
    sorts=SORTS,
    faults=FAULTS,
    needs=NEEDS,
    situations=autograd_situations,
    every_situation=frozenset(one.id for one in autograd_situations(EVERYTHING)),
    draw=draw_schedule,
    unfit=_unfit,
    candidates=Candidates,
    observer=ModelObserver,
    lines=lines,
    prompt=prompt,
    forbidden=forbidden,
    broken=_broken,
    left=_left,
    smaller=smaller,
)
