"""All worlds of the model beside the proof, by the checker's fast engine.

The engine calls a function of the state once for each picture of what the function looked at, and knows the answer for all
states that show the same picture. So nothing here makes a whole state of the proof out of a world. A clause looks up the facts
that it speaks of. A step compares what the model has changed with what the proof says, fact by fact, and looks at nothing that
neither of them has touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from farref.model.checker.interface import Case, Property
from farref.model.rref import actions as act
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.model import RRefModel
from farref.model.rref.network import Network
from farref.model.rref.rules import SOUND, RRefRules
from farref.model.rref.world import Bounds, ForkData, World
from farref.model.values import IdSet, Table, no_ids
from farref.properties.proof.link.beside import Beside, properties_of
from farref.properties.proof.link.clauses import CLAUSES
from farref.properties.proof.link.grounded import Frame, GroundStep, Holds, differs, ground_clause, ground_steps
from farref.properties.proof.link.steps import PARAMETERS, Taken, is_a, taken
from farref.properties.proof.link.worlds import (
    ENTRY_PHASES,
    FETCHES,
    HANDLES,
    MESSAGES,
    USER_PHASES,
    fork_name,
    frame_of,
    rref_name,
)  # fmt: skip
from farref.properties.proof.logic.formulas import FALSE
from farref.properties.proof.logic.small import Fact
from farref.properties.proof.rref.safety import RREFS
from farref.properties.proof.rref.steps import steps

OF_USERS: Final = {
    **{name: ("phase", value) for value, name in USER_PHASES.items()},
    **{name: ("handle", value) for value, name in HANDLES.items()},
    **{name: ("fetch", value) for value, name in FETCHES.items()},
}
"""What the proof says of a fork's user, by the field of the user's record and its value."""

OF_ENTRIES: Final = {name: value for value, name in ENTRY_PHASES.items()}
OF_OWNERS: Final = {
    "running": "running", "owner_holds": "held", "owner_waits": "waiting", "duplicated": "duplicated"
}  # fmt: skip
OF_MESSAGES: Final = {name: (table, number) for table, names in enumerate(MESSAGES) for number, name in names}
NOT_IN_THE_MODEL: Final = ("fetch_failed",)


class Linked(NamedTuple):
    """A world, with what the proof knows besides, and whether any step so far was not the proof's."""

    world: World
    remote: IdSet  # by RRefId: created by another worker
    differs: bool = False


# -- looking up a fact -------------------------------------------------------------------------------------------------


def facts_of(state: Linked, bounds: Bounds, lineage: Table[ForkData] | None = None) -> Holds:
    """Give the facts of a state, each looked up when it is asked for."""
    return lambda fact: _look(fact, state, bounds, state.world.lineage if lineage is None else lineage)


def _look(fact: Fact, state: Linked, bounds: Bounds, lineage: Table[ForkData]) -> bool:
    name, thing, *others = fact
    number = int(str(thing)[1:])
    if str(thing) == rref_name(number):
        return _of_rref(str(name), RRefId(number), state)
    return _of_fork(str(name), ForkId(number), [int(str(one)[1:]) for one in others], state, bounds, lineage)


def _of_rref(name: str, rref: RRefId, state: Linked) -> bool:
    world = state.world
    owner = world.owners[rref]
    if name in OF_ENTRIES:
        return owner.phase is OF_ENTRIES[name]
    if name in OF_OWNERS:
        return bool(getattr(owner, OF_OWNERS[name]))
    if name == "begun":
        return owner.phase.name != "ABSENT" or world.minted[rref] > 0
    return rref in (state.remote if name == "by_remote" else world.application.orphaned)


def _of_fork(
    name: str, fork: ForkId, others: list[int], state: Linked, bounds: Bounds, lineage: Table[ForkData]
) -> bool:
    world, rref = state.world, bounds.rref_of(fork)
    if name in OF_MESSAGES:
        table, number = OF_MESSAGES[name]
        return fork in world.network[table][number]  # type: ignore[index]
    if name in OF_USERS:
        part, value = OF_USERS[name]
        return getattr(world.users[fork], part) is value
    match name:
        case "counted":
            return fork in world.owners[rref].forks
        case "fetch_parked":
            return fork in world.owners[rref].fetches
        case "minted":
            return world.lineage[fork].holder is not None
        case "remote":
            return fork == bounds.creator_fork(rref) and rref in state.remote
        case "has_parent":
            return world.lineage[fork].parent is not None
        case "parent":
            return world.lineage[fork].parent == others[0]
        case "kept":
            parent = world.lineage[fork].parent
            return parent is not None and fork in world.users[parent].children
        case "for_owner":
            return lineage[fork].holder == bounds.owner(rref)
        case _:
            assert name in NOT_IN_THE_MODEL, name
            return False


# -- what a step has touched -------------------------------------------------------------------------------------------


def touched(old: Linked, new: Linked, bounds: Bounds) -> Iterator[Fact]:
    """List the facts that a step of the model may have changed. Parts that are the same are not looked at."""
    for rref in map(RRefId, range(bounds.rrefs)):
        yield from _touched_entry(old.world, new.world, rref, bounds)
        if old.remote != new.remote:
            yield from (("by_remote", rref_name(rref)), ("remote", fork_name(bounds.creator_fork(rref))))
    for fork in map(ForkId, range(bounds.forks_total)):
        yield from _touched_fork(old.world, new.world, fork, bounds)
    yield from _touched_messages(old.world.network, new.world.network, bounds)


def _touched_messages(before: Network, after: Network, bounds: Bounds) -> Iterator[Fact]:
    for name, (table, kind) in OF_MESSAGES.items():
        old, new = before[table][kind], after[table][kind]  # type: ignore[index]
        if old != new:
            yield from ((name, fork_name(fork)) for fork in range(bounds.forks_total))


def _touched_entry(before: World, after: World, rref: RRefId, bounds: Bounds) -> Iterator[Fact]:
    name, old, new = rref_name(rref), before.owners[rref], after.owners[rref]
    if old != new:
        yield from ((one, name) for one in (*OF_ENTRIES, *OF_OWNERS, "begun"))
    for said, was, now in (("counted", old.forks, new.forks), ("fetch_parked", old.fetches, new.fetches)):
        if was != now:
            yield from ((said, fork_name(fork)) for fork in range(bounds.forks_total))
    if before.minted != after.minted:
        yield "begun", name
    if before.application.orphaned != after.application.orphaned:
        yield "orphaned", name


def _touched_fork(before: World, after: World, fork: ForkId, bounds: Bounds) -> Iterator[Fact]:
    name, old, new = fork_name(fork), before.users[fork], after.users[fork]
    if old != new:
        yield from ((one, name) for one in OF_USERS)
    if old.children != new.children:
        yield from (("kept", fork_name(child)) for child in range(bounds.forks_total))
    if before.lineage[fork] != after.lineage[fork]:
        yield from ((one, name) for one in ("minted", "remote", "has_parent", "kept"))
        yield from (("parent", name, fork_name(other)) for other in range(bounds.forks_total))


# -- the model beside the proof ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinkedModel(Beside):
    """The model, each of whose steps is compared with the proof as it is taken."""

    bounds: Bounds
    rules: RRefRules = SOUND
    _known: dict[Taken, tuple[GroundStep, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def model(self) -> RRefModel:
        """The model itself."""
        return RRefModel(self.bounds, self.rules)

    @property
    def initial(self) -> Linked:
        """The world in which nothing has happened yet."""
        return Linked(self.model.initial, no_ids(self.bounds.rrefs))

    def step(self, state: Linked, action: act.Action) -> Linked | None:
        """Take a step of the model, and note whether it is the proof's."""
        world = self.model.step(state.world, action)
        if world is None:
            return None
        remote = state.remote.add(action.rref) if isinstance(action, act.CreateRemote) else state.remote
        after = state._replace(world=world, remote=remote)
        return after._replace(differs=state.differs or self.disagrees(state, action, after))

    def disagrees(self, state: Linked, action: act.Action, after: Linked) -> bool:
        """Say whether a step of the model is not one step of the proof, or changes something else than that step."""
        step = taken(state.world, action, self.bounds)
        path = [] if step is None else [self._ways(step)]
        before = facts_of(state, self.bounds, after.world.lineage)
        return differs(path, before, facts_of(after, self.bounds), touched(state, after, self.bounds))

    def _ways(self, step: Taken) -> tuple[GroundStep, ...]:
        """Write every way of a step where it is taken, once."""
        if step not in self._known:
            settled: dict[Fact, bool] = {("stays",): step.stays, ("as_call",): step.as_call}
            frame = Frame(*frame_of(self.bounds), settled)
            meant = dict(zip(PARAMETERS, step.at, strict=True))
            cases = (one for one in steps(RREFS.state) if one.guard is not FALSE and is_a(one.name, step.name))
            self._known[step] = ground_steps(cases, RREFS.state, frame, meant)
        return self._known[step]


def properties(bounds: Bounds) -> tuple[Property, ...]:
    """Give every clause and property of the proof to the checker, and that every step is one of the proof."""
    frame = Frame(*frame_of(bounds))
    return properties_of(CLAUSES, "R33", lambda one: _cases(one, frame, bounds))


def _cases(clause: Any, frame: Frame, bounds: Bounds) -> Iterator[Case]:
    for about, question in ground_clause(clause, RREFS.state, frame):
        yield Case(about, lambda state, question=question: question(facts_of(state, bounds)))  # type: ignore[misc]
