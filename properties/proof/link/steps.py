"""Which step of the proof an action of the model is, and where it is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, assert_never

from farref.model.actions import Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, OnLink, OnMessage, Retry
from farref.model.messages import kind_of
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds, World
from farref.properties.proof.link.worlds import Remote, fork_name, rref_name, state_of
from farref.properties.proof.logic.formulas import FALSE
from farref.properties.proof.logic.small import Check, Follower, Small, Thing, compiled
from farref.properties.proof.rref.point import POINT
from farref.properties.proof.rref.safety import RREFS
from farref.properties.proof.rref.steps import steps

CHOICES: Final = {("stays",), ("as_call",)}
"""Facts that say how a step is taken, and that are no part of a state."""

PARAMETERS: Final = (POINT.fork, POINT.other, POINT.rref)


@dataclass(frozen=True)
class Taken:
    """A step of the proof: its name, or how its name begins, and where and how it is taken."""

    name: str
    fork: ForkId
    other: ForkId
    rref: RRefId
    stays: bool = False
    as_call: bool = False

    @property
    def at(self) -> tuple[Thing, ...]:
        """Give the parameters of the step."""
        return fork_name(self.fork), fork_name(self.other), rref_name(self.rref)


@dataclass(frozen=True)
class Compiled:
    """One way of a step, to be looked up in small worlds."""

    name: str
    guard: Check
    after: Follower


def is_a(way: str, name: str) -> bool:
    """Say whether this is a way of a step of that name."""
    return way == name or way.startswith((f"{name} ", f"{name}:"))


@cache
def compiled_steps() -> tuple[Compiled, ...]:
    """Write all steps as functions, once."""
    return tuple(
        Compiled(case.name, compiled(case.guard, PARAMETERS), Follower(RREFS.state, case.after, PARAMETERS))
        for case in steps(RREFS.state)
        if case.guard is not FALSE
    )


# -- what an action is -------------------------------------------------------------------------------------------------


def taken(world: World, action: act.Action, bounds: Bounds) -> Taken | None:
    """Say which step of the proof an action is; None for one that changes nothing that the proof speaks of."""
    match action:
        case OnMessage():
            return _befallen(world, action, bounds)
        case act.OwnerShare(rref, _, carrier):
            child = ForkId(bounds.creator_fork(rref) + world.minted[rref])
            return Taken("OwnerShare", child, child, rref, as_call=carrier is msg.Call)
        case act.UserShare(fork, _, carrier):
            rref = bounds.rref_of(fork)
            child = ForkId(bounds.creator_fork(rref) + world.minted[rref])
            return Taken("UserShare", child, fork, rref, as_call=carrier is msg.Call)
        case act.OnRRef(rref):
            fork = bounds.creator_fork(rref)
            return Taken(type(action).__name__, fork, fork, rref)
        case act.OnFork(fork):
            return Taken(type(action).__name__, fork, fork, bounds.rref_of(fork))
        case act.Shutdown():
            return None
        case OnLink() | Exclude() | Install() | act.Settle() | act.Bury() | act.Reclaim() | act.Join():
            raise AssertionError("in the proof of RRefs no link breaks, and nobody is excluded")
        case _:
            assert_never(action)


def _befallen(world: World, action: act.Befalling, bounds: Bounds) -> Taken:
    fork = action.message.fork
    parent, rref = world.lineage[fork].parent, bounds.rref_of(fork)
    here = Taken(kind_of(action.message), fork, fork if parent is None else parent, rref)
    match action:
        case Deliver():
            return here
        case Duplicate():
            return replace(here, stays=True)
        case DropMessage():
            return replace(here, name=f"Lose {here.name}")
        case Retry():
            return replace(here, name=f"Retry {here.name}")
        case FailCall(message):
            return replace(
                here, name="FailCall RemoteCall" if type(message) is msg.RemoteCall else "FailCall of a fork"
            )
        case _:
            assert_never(action)


def remote_after(action: act.Action, remote: Remote) -> Remote:
    """Say which RRefs were created by another worker once an action is taken."""
    return remote | {action.rref} if isinstance(action, act.CreateRemote) else remote


# -- taking it ---------------------------------------------------------------------------------------------------------


def ways(step: Taken, before: Small) -> Iterator[tuple[str, Small]]:
    """List every way in which a step of the proof can be taken in a state, and the state it leads to."""
    how = {("stays",)} if step.stays else set()
    how |= {("as_call",)} if step.as_call else set()
    chosen = replace(before, facts=before.facts | how)
    for one in compiled_steps():
        if is_a(one.name, step.name) and one.guard(chosen, *step.at):
            after = one.after(chosen, *step.at)
            yield one.name, replace(after, facts=after.facts - CHOICES)


def disagreement(world: World, action: act.Action, after: World, remote: Remote, bounds: Bounds) -> str | None:
    """Say how the proof and the model differ over a step of the model; None if they do not."""
    before = state_of(world, remote, bounds, after.lineage)
    wanted = state_of(after, remote_after(action, remote), bounds).facts
    step = taken(world, action, bounds)
    found = [(action.kind, before)] if step is None else list(ways(step, before))
    if len(found) != 1:
        return f"{action} is not one step of the proof: {[name for name, _ in found]}"
    [(name, state)] = found
    if state.facts == wanted:
        return None
    return f"{action} is not {name}: missing {sorted(wanted - state.facts)}, wrong {sorted(state.facts - wanted)}"
