"""A world of the model with views as a small state of the proof of members, and which steps of that proof an action is.

The proof has all views and all forks from the start: who is excluded in a view, who holds a fork and who made it are fixed. A
world decides them as it goes. So two worlds are compared with what the later one knows.

In one point the proof is ahead of the model. A creation that can no longer arrive is an error there as soon as its creator is
excluded; in the model an owner cannot know of it before somebody names the RRef (R37). Until then the state of the proof has an
entry that the world does not have, and after the burial one that is gone.

A step of the model may be several of the proof: installing also ends what is told to lost parents, and who learns of a burial
lets go of one fork after the other. A worker that has not joined yet counts as one that has settled every view (R39).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from farref.model.actions import Deliver, Duplicate, Exclude, Install
from farref.model.ids import WorkerId, worker_name
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.network import is_unanswered
from farref.model.rref.owner import Entry
from farref.model.rref.views import is_excluded, is_late, shuns
from farref.model.rref.world import Bounds, World
from farref.properties.proof.link.steps import Compiled, is_a, remote_after, taken
from farref.properties.proof.link.worlds import Remote, fork_name, rref_name
from farref.properties.proof.link.worlds import state_of as state_of_rrefs
from farref.properties.proof.logic.formulas import FALSE
from farref.properties.proof.logic.small import Check, Fact, Follower, Small, Thing, compiled
from farref.properties.proof.views.point import POINT
from farref.properties.proof.views.quiet import QUIET
from farref.properties.proof.views.safety import RECLAIMING, VIEWS
from farref.properties.proof.views.steps import steps

PARAMETERS: Final = (POINT.fork, POINT.other, POINT.rref, POINT.worker, POINT.view)
ON_VIEWS: Final = (Exclude, Install, act.Settle, act.Bury, act.Reclaim, act.Join)


# -- states ------------------------------------------------------------------------------------------------------------


def state_of(world: World, remote: Remote, bounds: Bounds, later: World | None = None) -> Small:
    """Give the state of the proof that a world is, with the views and forks that a later world knows of."""
    known = later or world
    base = state_of_rrefs(world, remote, bounds, known.lineage)
    views = tuple(map(_view, range(1, known.views.issued + 1)))
    things = {**base.things, "Worker": tuple(map(worker_name, bounds.worker_ids)), "View": views}
    facts = {*base.facts, *_fixed(known, bounds), *_done(world, known, bounds), *_ahead(world, remote, bounds)}
    return Small(things, frozenset(facts), {**base.functions, **_people(known, bounds)})


def _view(number: int) -> str:
    return f"v{number}"


def _people(world: World, bounds: Bounds) -> dict[Fact, Thing]:
    """Say who owns, creates, holds and makes; of what is not minted, somebody who is not the owner."""
    owned = {RRefId(rref): bounds.owner(RRefId(rref)) for rref in range(bounds.rrefs)}
    found: dict[Fact, Thing] = {("owner", rref_name(rref)): worker_name(owner) for rref, owner in owned.items()}
    for fork in map(ForkId, range(bounds.forks_total)):
        data, owner = world.lineage[fork], owned[bounds.rref_of(fork)]
        other = next(one for one in bounds.worker_ids if one != owner)
        holder = other if data.holder is None else data.holder
        made = owner if data.parent is None else world.lineage[data.parent].holder
        assert made is not None, "a parent has been minted"
        found["holder", fork_name(fork)] = worker_name(holder)
        found["minter", fork_name(fork)] = worker_name(made)
        if fork == bounds.creator_fork(bounds.rref_of(fork)):
            found["creator", rref_name(bounds.rref_of(fork))] = worker_name(holder)
    return found


def _fixed(world: World, bounds: Bounds) -> Iterator[Fact]:
    for view in range(1, world.views.issued + 1):
        lost = (one for one in bounds.worker_ids if is_excluded(world, one, view))
        yield from (("excluded_in", _view(view), worker_name(one)) for one in lost)
        yield from (("not_after", _view(one), _view(view)) for one in range(1, view + 1))


def _done(world: World, known: World, bounds: Bounds) -> Iterator[Fact]:
    """List what workers have done about views. Whoever has not joined has done everything."""
    for worker in bounds.worker_ids:
        name, views = worker_name(worker), world.views
        installed = views.issued if is_late(world, worker) else views.installed[worker]
        settled = views.issued if is_late(world, worker) else views.settled[worker]
        yield from (("installed", name, _view(view)) for view in range(1, installed + 1))
        yield from (("settled", name, _view(view)) for view in range(1, settled + 1))
        lost = (one for one in bounds.worker_ids if is_excluded(known, one, installed))
        yield from (("shuns", name, worker_name(one)) for one in lost)
        if is_excluded(world, worker, views.buried):
            yield "buried", name


def _ahead(world: World, remote: Remote, bounds: Bounds) -> Iterator[Fact]:
    """List what the proof says of a creation that cannot arrive, and that nobody has named."""
    for rref in remote:
        fork, owner = bounds.creator_fork(rref), bounds.owner(rref)
        if _is_unnamed(world, rref, bounds):
            is_over = _is_reclaimed(world, owner, fork)
            yield "gone" if is_over else "ready", rref_name(rref)
            if not is_over:
                yield "counted", fork_name(fork)


def _is_unnamed(world: World, rref: RRefId, bounds: Bounds) -> bool:
    creator = world.lineage[bounds.creator_fork(rref)].holder
    is_shut = creator is not None and shuns(world, bounds.owner(rref), creator)
    return is_shut and world.owners[rref].phase is Entry.ABSENT


def _is_reclaimed(world: World, owner: WorkerId, fork: ForkId) -> bool:
    holder = world.lineage[fork].holder
    return holder is not None and is_excluded(world, holder, world.views.told[owner])


@cache
def checks() -> dict[str, Check]:
    """Write every clause and every goal of the proof as a function of a state, once."""
    clauses = (*RECLAIMING.invariant, *QUIET.invariant, *RECLAIMING.goals)
    return {one.id: compiled(one.holds(VIEWS.state)) for one in clauses}


def broken(state: Small) -> list[str]:
    """Name the clauses and goals that do not hold in a state."""
    return [name for name, holds in checks().items() if not holds(state)]


# -- steps -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Taken:
    """A step of the proof: its name, or how its name begins, and where and how it is taken."""

    name: str
    fork: ForkId = ForkId(0)
    other: ForkId = ForkId(0)
    rref: RRefId = RRefId(0)
    worker: WorkerId = WorkerId(0)
    view: int = 1
    how: frozenset[Fact] = frozenset()

    @property
    def at(self) -> tuple[Thing, ...]:
        """Give the parameters of the step."""
        return (
            fork_name(self.fork),
            fork_name(self.other),
            rref_name(self.rref),
            worker_name(self.worker),
            _view(self.view),
        )


def path(world: World, action: act.Action, after: World, bounds: Bounds) -> Iterator[Taken]:
    """List the steps of the proof that an action of the model is, in their order."""
    if isinstance(action, ON_VIEWS):
        yield from _about_views(world, action, after, bounds)
        return
    one = taken(world, action, bounds)
    if one is not None:
        how = {("stays",)} if one.stays else set()
        how |= {("as_call",)} if one.as_call else set()
        yield Taken(one.name, one.fork, one.other, one.rref, how=frozenset(how))
    match action:
        case act.CreateRemote(named, worker) if is_excluded(world, worker, world.views.told[bounds.owner(named)]):
            yield Taken("Reclaim a fork", bounds.creator_fork(named), rref=named)
        case Deliver(msg.Ack(msg.ForkRequest(_, fork))) | Duplicate(msg.Ack(msg.ForkRequest(_, fork))):
            if is_unanswered(world.network, msg.ForkRequest(bounds.rref_of(fork), fork)):
                yield from _falls_silent(world, fork, bounds, after)


def _about_views(world: World, action: act.OnView, after: World, bounds: Bounds) -> Iterator[Taken]:
    match action:
        case Exclude():
            view = after.views.issued
            for worker in (one for one in bounds.worker_ids if is_late(world, one)):
                yield Taken("Install", worker=worker, view=view)
                yield Taken("Settle", worker=worker, view=view)
        case Install(worker):
            yield Taken("Install", worker=worker, view=after.views.installed[worker])
            for fork in map(ForkId, range(bounds.forks_total)):
                told = is_unanswered(world.network, msg.ChildAccept(bounds.rref_of(fork), fork))
                if told and world.lineage[fork].holder == worker:
                    yield from _falls_silent(after, fork, bounds, after)
        case act.Settle(worker, view):
            yield from (
                Taken("Settle", worker=worker, view=one) for one in range(world.views.settled[worker] + 1, view + 1)
            )
        case act.Bury(view):
            yield Taken("Bury", view=view)
        case act.Reclaim(worker):
            yield from _lets_go(world, worker, bounds)
        case act.Join():
            return


def _falls_silent(world: World, fork: ForkId, bounds: Bounds, after: World) -> Iterator[Taken]:
    data = after.lineage[fork]
    sharer = None if data.parent is None else after.lineage[data.parent].holder
    if data.holder is not None and data.parent is not None and sharer is not None and shuns(world, data.holder, sharer):
        yield Taken("Stop telling", fork, data.parent, bounds.rref_of(fork))


def _lets_go(world: World, worker: WorkerId, bounds: Bounds) -> Iterator[Taken]:
    for fork in map(ForkId, range(bounds.forks_total)):
        data, named = world.lineage[fork], bounds.rref_of(fork)
        if data.holder is None or not is_excluded(world, data.holder, world.views.buried):
            continue
        is_ahead = fork == bounds.creator_fork(named) and _is_unnamed(world, named, bounds)
        is_counted = fork in world.owners[named].forks or (is_ahead and not _is_reclaimed(world, worker, fork))
        if bounds.owner(named) == worker and is_counted:
            yield Taken("Reclaim a fork", fork, rref=named)
        parent = data.parent
        if parent is not None and world.lineage[parent].holder == worker and fork in world.users[parent].children:
            yield Taken("Forget a child", fork, parent, named)


@cache
def compiled_steps() -> tuple[Compiled, ...]:
    """Write all steps as functions, once."""
    return tuple(
        Compiled(case.name, compiled(case.guard, PARAMETERS), Follower(VIEWS.state, case.after, PARAMETERS))
        for case in steps(VIEWS.state)
        if case.guard is not FALSE
    )


def ways(step: Taken, before: Small) -> list[tuple[str, Small]]:
    """List every way in which a step of the proof can be taken in a state, and the state it leads to."""
    chosen = replace(before, facts=before.facts | step.how)
    found = [one for one in compiled_steps() if is_a(one.name, step.name) and one.guard(chosen, *step.at)]
    led = [(one.name, one.after(chosen, *step.at)) for one in found]
    return [(name, replace(after, facts=after.facts - step.how)) for name, after in led]


def disagreement(world: World, action: act.Action, after: World, remote: Remote, bounds: Bounds) -> str | None:
    """Say how the proof and the model differ over a step of the model; None if they do not."""
    state, names = state_of(world, remote, bounds, after), list[str]()
    for step in path(world, action, after, bounds):
        found = ways(step, state)
        if len(found) != 1:
            return f"{action}: after {names}, {step} can be taken in {[name for name, _ in found]}"
        [(name, state)] = found
        names.append(name)
    wanted = state_of(after, remote_after(action, remote), bounds).facts
    if state.facts == wanted:
        return None
    return f"{action} is not {names}: missing {sorted(wanted - state.facts)}, wrong {sorted(state.facts - wanted)}"
