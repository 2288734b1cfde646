"""A state of the proof as a world of the model. The state need not be one that any run reaches.

The model numbers forks as they are minted, so the forks of a state must be numbered from zero, the creator's first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from farref.model.ids import WorkerId
from farref.model.rref.application import Application
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Ack, Message, control_number, kind_number
from farref.model.rref.network import Network
from farref.model.rref.owner import Entry, OwnerRRef
from farref.model.rref.user import Fetch, Handle, User, UserRRef
from farref.model.rref.world import Bounds, ForkData, World, empty_world
from farref.model.values import IdSet, Table
from farref.properties.proof.link.worlds import (
    CALLS,
    CONTROLS,
    ENTRY_PHASES,
    FETCHES,
    HANDLES,
    USER_PHASES,
    Remote,
    fork_name,
    rref_name,
)
from farref.properties.proof.logic.small import Small

Value = TypeVar("Value")


def renumbered(state: Small) -> Small:
    """Give the minted forks of a state the first numbers, the creator's before all others."""
    rank = {fork: [(one, fork) not in state.facts for one in ("remote", "minted")] for fork in state.things["Fork"]}
    order = sorted(rank, key=lambda fork: (rank[fork], str(fork)))
    new = {old: fork_name(number) for number, old in enumerate(order)}
    facts = frozenset((fact[0], *(new.get(one, one) for one in fact[1:])) for fact in state.facts)
    return Small({**state.things, "Fork": tuple(new.values())}, facts, {("rref_of", one): "x0" for one in new.values()})


def world_of(state: Small, bounds: Bounds) -> tuple[World, Remote]:
    """Give the world that a state of one RRef is, and whether that RRef was created by another worker."""
    forks = [ForkId(number) for number in range(bounds.forks_total)]
    world = empty_world(bounds)._replace(
        owners=Table((_owner(state, forks),)),
        users=Table(_user(state, fork, forks) for fork in forks),
        lineage=Table(_data(state, fork, forks, bounds) for fork in forks),
        minted=Table((sum(_says(state, "minted", fork) for fork in forks),)),
        network=_network(state, empty_world(bounds).network, forks),
        application=_application(state, forks),
    )
    return world, frozenset({RRefId(0)} if ("by_remote", rref_name(0)) in state.facts else ())


def _says(state: Small, name: str, fork: ForkId) -> bool:
    return (name, fork_name(fork)) in state.facts


def _set(state: Small, name: str, forks: list[ForkId]) -> IdSet:
    return IdSet(_says(state, name, fork) for fork in forks)


def _which(state: Small, names: dict[Value, str], thing: str, otherwise: Value) -> Value:
    return next((value for value, name in names.items() if (name, thing) in state.facts), otherwise)


def _owner(state: Small, forks: list[ForkId]) -> OwnerRRef:
    flags = [(name, rref_name(0)) in state.facts for name in ("running", "owner_holds", "owner_waits")]
    counted, parked = _set(state, "counted", forks), _set(state, "fetch_parked", forks)
    return OwnerRRef(_which(state, ENTRY_PHASES, rref_name(0), Entry.ABSENT), counted, parked, *flags)


def _user(state: Small, fork: ForkId, forks: list[ForkId]) -> UserRRef:
    name = fork_name(fork)
    children = IdSet(("parent", fork_name(one), name) in state.facts and _says(state, "kept", one) for one in forks)
    phase, handle = _which(state, USER_PHASES, name, User.ABSENT), _which(state, HANDLES, name, Handle.NONE)
    return UserRRef(phase, handle, children, _which(state, FETCHES, name, Fetch.NONE))


def _data(state: Small, fork: ForkId, forks: list[ForkId], bounds: Bounds) -> ForkData:
    if not _says(state, "minted", fork):
        return ForkData()
    parents = [one for one in forks if ("parent", fork_name(fork), fork_name(one)) in state.facts]
    owner = bounds.owner(RRefId(0))
    holder = owner if _says(state, "for_owner", fork) else WorkerId((owner + 1) % bounds.workers)
    return ForkData(holder, parents[0] if parents else None)


def _network(state: Small, network: Network, forks: list[ForkId]) -> Network:
    flying, unanswered, processed = network.flying, network.unanswered, network.processed
    for name, message in _messages(forks):
        kind = kind_number(message)
        flying = flying.put(kind, flying[kind].add(message.fork)) if _says(state, name, message.fork) else flying
    for name, control in CONTROLS.items():
        number = control_number(control(RRefId(0), ForkId(0)))
        unanswered = unanswered.put(number, _set(state, f"{name}.unanswered", forks))
        processed = processed.put(number, _set(state, f"{name}.processed", forks))
    return network._replace(flying=flying, unanswered=unanswered, processed=processed)


def _messages(forks: list[ForkId]) -> Iterator[tuple[str, Message]]:
    """List every message that could be under way, with the relation that says whether it is."""
    for fork in forks:
        yield from ((name, kind(RRefId(0), fork)) for name, kind in CALLS.items())
        for name, control in CONTROLS.items():
            yield f"{name}.flying", control(RRefId(0), fork)
            yield f"{name}.answering", Ack(control(RRefId(0), fork))


def _application(state: Small, forks: list[ForkId]) -> Application:
    """Give an application that has what the tables say it has."""
    holds, waits = (IdSet([(name, rref_name(0)) in state.facts]) for name in ("owner_holds", "owner_waits"))
    has = Table(_which(state, HANDLES, fork_name(fork), Handle.NONE) for fork in forks)
    return Application(holds, waits, IdSet([False]), has, _set(state, "asking", forks))
