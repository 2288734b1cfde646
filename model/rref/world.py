"""A bounded world: how large it is, and everything there is in it. What can happen in it is in `steps.py`.

The world is the only place that sees everything. It counts the forks minted and keeps the budgets that make it finite. Who
holds a fork, and from whom, is written into the fork as it is minted (`ForkData`, which travels in PyTorch's messages as
`RRefForkData`), and it says where each message goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from farref.model.ids import WorkerId
from farref.model.rref import application as app
from farref.model.rref import network as net
from farref.model.rref import owner as own
from farref.model.rref import user as use
from farref.model.rref.ids import ForkId, RRefId
from farref.model.values import IdSet, Table, no_ids


@dataclass(frozen=True)
class Bounds:
    """How large a world is, and how much may go wrong in it."""

    workers: int = 3
    rrefs: int = 1
    forks: int = 3  # for each RRef
    drops: int = 0  # control messages the network may lose
    duplicates: int = 0  # control messages it may deliver once more
    timeouts: int = 0  # creations and fetches the application may give up
    fetches: int = 0  # values it may ask for
    failures: int = 0  # calls that cannot be sent or understood
    cuts: int = 0  # links that break while both ends live
    results: bool = False  # share in results as well as in arguments
    owner_shares: bool = True  # the owner shares as well as users
    self_shares: bool = True  # share with oneself as well as with others
    shutdown: bool = False  # end with a graceful shutdown

    def owner(self, rref: RRefId) -> WorkerId:
        """Name the worker that owns an RRef: one each, in turn. As in PyTorch's note B is the first owner, then A, then C."""
        turn = rref % self.workers
        return WorkerId(1 - turn if turn < 2 else turn)

    @property
    def worker_ids(self) -> list[WorkerId]:
        """The workers, in the order in which they own RRefs: B, A, C, and so on."""
        return [self.owner(RRefId(turn)) for turn in range(self.workers)]

    def creator_fork(self, rref: RRefId) -> ForkId:
        """Name the first fork of an RRef, which its remote creator holds."""
        return ForkId(rref * self.forks)

    def rref_of(self, fork: ForkId) -> RRefId:
        """Name the RRef a fork belongs to."""
        return RRefId(fork // self.forks)

    @property
    def forks_total(self) -> int:
        """Count the fork ids of all RRefs."""
        return self.rrefs * self.forks


class ForkData(NamedTuple):
    """What is written into a fork when it is minted (R2)."""

    holder: WorkerId | None = None  # the worker it is meant for
    parent: ForkId | None = None  # the fork it was made from; None if the owner made it, or remote()


class Budgets(NamedTuple):
    """What may still go wrong, or be asked for."""

    drops: int
    duplicates: int
    timeouts: int
    fetches: int
    failures: int
    cuts: int


class World(NamedTuple):
    """Everything there is."""

    owners: Table[own.OwnerRRef]  # by RRefId
    users: Table[use.UserRRef]  # by ForkId
    lineage: Table[ForkData]  # by ForkId
    minted: Table[int]  # by RRefId: the forks minted so far
    network: net.Network
    budgets: Budgets
    application: app.Application  # the ground truth, which no handler sees
    apart: Table[IdSet]  # by WorkerId: those it takes for dead, as the link broke; empty where none can break
    closing: bool = False  # shutdown has begun


def empty_world(bounds: Bounds) -> World:
    """Make the world in which nothing has happened yet."""
    forks = bounds.forks_total
    return World(
        Table((own.absent(forks),) * bounds.rrefs),
        Table((use.absent(forks),) * forks),
        Table((ForkData(),) * forks),
        Table((0,) * bounds.rrefs),
        net.quiet(forks),
        Budgets(*(getattr(bounds, name) for name in Budgets._fields)),
        app.idle(bounds.rrefs, forks),
        Table((no_ids(bounds.workers),) * bounds.workers if bounds.cuts else ()),
    )
