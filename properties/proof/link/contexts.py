"""A world of the autograd model as a small state of the proof of releases: the same facts under the proof's names.

The proof remembers of each call that it was sent, and how it ended. A world forgets that with its contexts, so whoever follows
a run keeps it (`Past`). In the model the creator hears of its own calls at once, and sees at once that all is accounted for. In
the proof these are steps of their own. So a step of the model is one of the proof, and maybe one or both of those after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from farref.model.autograd import messages as msg
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import SOUND, AutogradRules
from farref.model.autograd.worker import Context
from farref.model.autograd.world import Bounds, World, graph_of
from farref.model.ids import WorkerId
from farref.model.values import no_ids
from farref.properties.proof.autograd.release import C, W, steps
from farref.properties.proof.autograd.release_invariant import CONTEXT, FORGET
from farref.properties.proof.logic.small import Check, Fact, Follower, Small, compiled
from farref.properties.proof.subjects import AUTOGRAD

CONTEXTS: Final = {Context.OPEN: "open", Context.CLOSED: "closed", Context.GONE: "forgotten"}
ABOUT_WORKERS: Final[dict[str, Callable[[WorkerId], msg.CleanupContext | msg.Closed | msg.Forget]]] = {
    "cleaning": msg.CleanupContext,
    "reporting": msg.Closed,
    "forgetting": msg.Forget,
}
PARAMETERS: Final = (C, W)
AT_ONCE: Final = ("Settled", "Drained")
"""What the creator tells itself in the model, in the step that makes it known."""


class Past(NamedTuple):
    """The calls that were ever sent, that arrived in time, and that failed in time."""

    sent: frozenset[int] = frozenset()
    arrived: frozenset[int] = frozenset()
    failed: frozenset[int] = frozenset()


def past_of(world: World, before: Past) -> Past:
    """Add what a world shows to what was known."""
    workers = world.workers
    return Past(
        before.sent.union(*(one.sent.members() for one in workers)),
        before.arrived.union(*(one.got.members() for one in workers)),
        before.failed.union(*(one.failed.members() for one in workers)),
    )


def state_of(world: World, past: Past, bounds: Bounds) -> Small:
    """Give the state of the proof that a world is."""
    pairs = graph_of(world, bounds).pairs
    things = {
        "Call": tuple(f"c{one}" for one in bounds.pair_ids),
        "Worker": tuple(f"w{one}" for one in bounds.worker_ids),
    }
    functions: dict[Fact, str] = {("creator",): f"w{CREATOR}"}
    for number, pair in enumerate(pairs):
        functions |= {("source", f"c{number}"): f"w{pair.source}", ("target", f"c{number}"): f"w{pair.target}"}
    return Small(things, frozenset((*_calls(world, past, bounds), *_workers(world, bounds))), functions)


def _calls(world: World, past: Past, bounds: Bounds) -> Iterator[Fact]:
    release = world.release
    known = {
        "sent": past.sent,
        "arrived": past.arrived,
        "failed": past.failed,
        "flying": [one for one in bounds.pair_ids if _is_carried(world, msg.ForwardCall(one), bounds)],
        "settling": [
            one
            for one in bounds.pair_ids
            for failed in (False, True)
            if _is_carried(world, msg.Settled(one, failed), bounds)
        ],
        "owed": release.sent.members(),
        "accounted": release.settled.members(),
    }
    yield from ((name, f"c{one}") for name, calls in known.items() for one in calls)


def _workers(world: World, bounds: Bounds) -> Iterator[Fact]:
    for number, worker in zip(bounds.worker_ids, world.workers, strict=True):
        name = f"w{number}"
        if worker.context in CONTEXTS:
            yield CONTEXTS[worker.context], name
        if worker.resurrected:
            yield "resurrected", name
        if number in world.release.asked:
            yield "asked", name
        if number in world.release.closed:
            yield "entered", name
        yield from ((said, name) for said, kind in ABOUT_WORKERS.items() if _is_carried(world, kind(number), bounds))
    if world.workers[CREATOR].context is Context.GONE:
        yield ("done",)


def _is_carried(world: World, message: msg.Message, bounds: Bounds) -> bool:
    place = bounds.places.get(message)
    return place is not None and world.network.carried[place] is not None


# -- clauses and steps -------------------------------------------------------------------------------------------------


@cache
def checks() -> dict[str, Check]:
    """Write every clause as a function of a state, once."""
    return {one.id: compiled(one.holds(CONTEXT.state)) for one in (*FORGET.invariant, *FORGET.goals)}


def broken(state: Small) -> list[str]:
    """Name the clauses that do not hold in a state."""
    return [name for name, holds in checks().items() if not holds(state)]


@cache
def _ways() -> tuple[tuple[str, Check, Follower], ...]:
    cases = steps(CONTEXT.state, AUTOGRAD.sound)
    return tuple(
        (one.name, compiled(one.guard, PARAMETERS), Follower(CONTEXT.state, one.after, PARAMETERS)) for one in cases
    )


def successors(state: Small) -> Iterator[tuple[str, Small]]:
    """Take every step of the proof that can be taken in a state."""
    for at in product(state.things["Call"], state.things["Worker"]):
        yield from ((name, follow(state, *at)) for name, guard, follow in _ways() if guard(state, *at))


def step_of(before: Small, after: Small) -> str | None:
    """Name the step of the proof between two states, with what the creator tells itself at once; None if there is none."""
    if before.facts == after.facts:
        return "nothing"
    reached = list(successors(before))
    for _ in range(len(AT_ONCE) + 1):
        if names := [name for name, state in reached if state.facts == after.facts]:
            return names[0]
        reached = [
            (f"{name}, {then}", end) for name, state in reached for then, end in successors(state) if then in AT_ONCE
        ]
    return None


def only_in_the_proof(world: World, past: Past, bounds: Bounds) -> Iterator[str]:
    """Name the steps that the proof can take in a world and the model cannot, once what is lost is sent again.

    One is more general in the proof: a call may be sent before what it needs has come.
    """
    before = state_of(world, past, bounds)
    model = AutogradModel(replace(bounds, failures=1, detached=1), SOUND)
    found = world.network._replace(lost=no_ids(len(world.network.lost)))
    ready = world._replace(budgets=world.budgets._replace(failures=1, detached=1), network=found)
    afters = [after for action in model.actions if (after := model.step(ready, action)) is not None]
    known = {before.facts, *(state_of(after, past_of(after, past), bounds).facts for after in afters)}
    for name, reached in successors(before):
        ends = [reached, *(end for then, end in successors(reached) if then in AT_ONCE)]
        if name != "a call is sent" and not any(end.facts in known for end in ends):
            yield name


Move = tuple[Any, World, Past]


def moments(bounds: Bounds, rules: AutogradRules = SOUND) -> Iterator[tuple[World, Past, list[Move]]]:
    """Go through the worlds of a model, near ones first, each with the steps that lead out of it."""
    model = AutogradModel(bounds, rules)
    start = (model.initial, past_of(model.initial, Past()))
    seen, queue = {start}, deque([start])
    while queue:
        world, past = queue.popleft()
        found = [(action, model.step(world, action)) for action in model.actions]
        moves = [(action, after, past_of(after, past)) for action, after in found if after is not None]
        yield world, past, moves
        for _, after, later in moves:
            if (after, later) not in seen:
                seen.add((after, later))
                queue.append((after, later))
