"""Where every message comes from and goes to (clauses R4, R5). Nothing else says so.

A message names the fork it is about. Its ends are roles that workers have towards that fork: the owner of the RRef, the
worker that holds the fork, and the one that shared it. Who has which role is written into the fork as it is minted
(`ForkData`), so a world can address all its messages.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from farref.model.ids import WorkerId
from farref.model.rref.ids import ForkId
from farref.model.rref.messages import (
    Ack,
    Call,
    CallFailed,
    ChildAccept,
    CreateFailed,
    FetchCall,
    FetchReturn,
    ForkRequest,
    Message,
    RemoteCall,
    RemoteFailed,
    Return,
    UserAccept,
    UserDelete,
)
from farref.model.rref.world import Bounds, World


class Role(Enum):
    """What a worker is to the fork that a message is about."""

    OWNER = "owner"  # owns the RRef
    HOLDER = "holder"  # holds the fork, or is meant to
    SHARER = "sharer"  # made the fork for its holder: the owner, or the holder of its parent
    NETWORK = "network"  # is not a worker: it tells a sender that a message failed


def roles(message: Message) -> tuple[Role, Role]:
    """Say which role a message comes from, and which it goes to."""
    match message:
        case Ack(of):
            source, target = roles(of)
            return target, source
        case RemoteCall() | FetchCall() | ForkRequest() | UserDelete() | CreateFailed():
            return Role.HOLDER, Role.OWNER
        case UserAccept() | FetchReturn():
            return Role.OWNER, Role.HOLDER
        case Call() | Return():
            return Role.SHARER, Role.HOLDER
        case ChildAccept():
            return Role.HOLDER, Role.SHARER
        case RemoteFailed():
            return Role.NETWORK, Role.HOLDER
        case CallFailed():
            return Role.NETWORK, Role.SHARER
        case _:
            assert_never(message)


def ends(world: World, message: Message, bounds: Bounds) -> tuple[WorkerId | None, WorkerId]:
    """Say which worker a message comes from, None for the network, and which it goes to."""
    source, target = roles(message)
    sender = None if source is Role.NETWORK else _worker(world, source, message.fork, bounds)
    return sender, _worker(world, target, message.fork, bounds)


def link(world: World, message: Message, bounds: Bounds) -> tuple[WorkerId, WorkerId]:
    """Say over which link a message comes; a report of a failure comes over that of the call which failed."""
    source, target = roles(message)
    if source is Role.NETWORK:
        source = Role.OWNER if target is Role.HOLDER else Role.HOLDER
    return _worker(world, source, message.fork, bounds), _worker(world, target, message.fork, bounds)


def holder(world: World, fork: ForkId) -> WorkerId:
    """Name the worker a fork is meant for."""
    worker = world.lineage[fork].holder
    assert worker is not None, "a fork that something happens to has been minted"
    return worker


def sharer(world: World, fork: ForkId, bounds: Bounds) -> WorkerId:
    """Name the worker that made a fork for its holder."""
    parent = world.lineage[fork].parent
    return bounds.owner(bounds.rref_of(fork)) if parent is None else holder(world, parent)


def _worker(world: World, role: Role, fork: ForkId, bounds: Bounds) -> WorkerId:
    match role:
        case Role.OWNER:
            return bounds.owner(bounds.rref_of(fork))
        case Role.HOLDER:
            return holder(world, fork)
        case Role.SHARER:
            return sharer(world, fork, bounds)
        case Role.NETWORK:
            raise AssertionError("no message goes to the network")
        case _:
            assert_never(role)
