"""The other direction: what the proof allows, the model allows too, apart from what is said here.

The proof is more general on purpose, and what is proved of more steps holds of fewer: calls for a value may fail, an
unanswered message may be sent again at any time, and a timeout may hit any pending user. Nothing in it is bounded, so the
model is given back all its budgets before it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.model import RRefModel
from farref.model.rref.world import Bounds, Budgets, World
from farref.properties.proof.link.steps import CHOICES, Compiled, compiled_steps, remote_after
from farref.properties.proof.link.worlds import Remote, fork_name, rref_name, state_of
from farref.properties.proof.logic.small import Fact, Small, Thing


def only_in_the_proof(world: World, remote: Remote, bounds: Bounds) -> Iterator[str]:
    """Name the steps that the proof can take in a world and the model cannot, apart from those that are more general."""
    known = set(_successors(world, remote, bounds))
    for state in _choices(state_of(world, remote, bounds), world, bounds):
        for step, at in product(compiled_steps(), _points(world, bounds)):
            is_new = step.guard(state, *at) and _told(step.after(state, *at).facts) not in known
            if is_new and not _is_more_general(step, at, state, bounds):
                yield f"{step.name} at {', '.join(map(str, at))}"


def _successors(world: World, remote: Remote, bounds: Bounds) -> Iterator[frozenset[Fact]]:
    everything = replace(bounds, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, results=True)
    model, ready = RRefModel(everything), world._replace(budgets=Budgets(1, 1, 1, 1, 1, cuts=0))
    yield _told(state_of(world, remote, bounds).facts)  # a step may change nothing
    for action in model.actions:
        after = model.step(ready, action)
        if after is not None:
            yield _told(state_of(after, remote_after(action, remote), bounds).facts)


def _told(facts: frozenset[Fact]) -> frozenset[Fact]:
    """Leave out how the step was taken, and for whom forks are meant that are not minted yet."""
    return frozenset(fact for fact in facts - CHOICES if fact[0] != "for_owner" or ("minted", fact[1]) in facts)


def _choices(state: Small, world: World, bounds: Bounds) -> Iterator[Small]:
    """List the ways to choose what a step leaves open: a copy or not, an argument or a result, for the owner or not."""
    none: set[Fact] = set()
    stays: set[Fact] = {("stays",)}
    as_call: set[Fact] = {("as_call",)}
    for_owner: set[Fact] = {("for_owner", fork_name(fork)) for fork in _next(world, bounds)}
    for how in product((stays, none), (as_call, none), (for_owner, none)):
        yield replace(state, facts=state.facts.union(*how))


def _next(world: World, bounds: Bounds) -> list[ForkId]:
    """List the forks that would be minted next."""
    rrefs = (RRefId(number) for number in range(bounds.rrefs))
    return [ForkId(bounds.creator_fork(one) + world.minted[one]) for one in rrefs if world.minted[one] < bounds.forks]


def _points(world: World, bounds: Bounds) -> Iterator[tuple[Thing, ...]]:
    minted = [number for number, data in enumerate(world.lineage) if data.holder is not None]
    for fork in [*minted, *_next(world, bounds)]:
        for other in minted or [fork]:
            yield fork_name(fork), fork_name(other), rref_name(bounds.rref_of(ForkId(fork)))


def _is_more_general(step: Compiled, at: tuple[Thing, ...], state: Small, bounds: Bounds) -> bool:
    """Say whether this is one of the three things that only the proof allows."""
    kind = {"ForkRequest": "fork_request", "ChildAccept": "child_accept", "UserDelete": "user_delete"}
    if step.name.startswith("Retry "):
        name = kind.get(step.name.removeprefix("Retry "), "create_failed")
        return any((f"{name}.{what}", at[0]) in state.facts for what in ("flying", "answering"))
    creators = {fork_name(bounds.creator_fork(RRefId(rref))) for rref in range(bounds.rrefs)}
    return step.name == "FailCall FetchCall" or (step.name == "TimeOutCreation" and at[0] not in creators)
