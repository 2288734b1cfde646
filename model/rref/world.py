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
from farref.model.rref.views import Views, no_views
from farref.model.values import IdSet, Table, no_ids, quicken


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
    exclusions: int = 0  # views that the authority may issue, each of which excludes one more worker
    joins: int = 0  # workers that are not there at first, and join in place of one who is excluded
    results: bool = False  # share in results as well as in arguments
    owner_shares: bool = True  # the owner shares as well as users
    self_shares: bool = True  # share with oneself as well as with others
    shutdown: bool = False  # end with a graceful shutdown
    lost_owners: bool = False  # an owner may be excluded too, not only workers that own nothing

    def owner(self, rref: RRefId) -> WorkerId:
        """Name the worker that owns an RRef: one each, in turn. As in PyTorch's note B is the first owner, then A, then C."""
        turn = rref % self.workers
        return WorkerId(1 - turn if turn < 2 else turn)

    @property
    def worker_ids(self) -> list[WorkerId]:
        """The workers, in the order in which they own RRefs: B, A, C, and so on."""
        return [self.owner(RRefId(turn)) for turn in range(self.workers)]

    @property
    def owning(self) -> set[WorkerId]:
        """The workers that own an RRef."""
        return {self.owner(RRefId(rref)) for rref in range(self.rrefs)}

    @property
    def latecomers(self) -> list[WorkerId]:
        """The workers that are not there at first: the last ones."""
        return self.worker_ids[self.workers - self.joins :]

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
    apart: Table[IdSet]  # by WorkerId: those to whom its link is broken, and not mended yet; empty where none can break
    mourned: Table[IdSet]  # by WorkerId: those it takes for dead, as the link broke; empty where none can break
    views: Views  # empty where nobody can be excluded
    closing: bool = False  # shutdown has begun


quicken(World, own.OwnerRRef, use.UserRRef, net.Network, Budgets, app.Application, Views)


def empty_world(bounds: Bounds) -> World:
    """Make the world in which nothing has happened yet."""
    forks = bounds.forks_total
    no_links = Table((no_ids(bounds.workers),) * bounds.workers if bounds.cuts else ())
    return World(
        Table((own.absent(forks),) * bounds.rrefs),
        Table((use.absent(forks),) * forks),
        Table((ForkData(),) * forks),
        Table((0,) * bounds.rrefs),
        net.quiet(forks),
        Budgets(*(getattr(bounds, name) for name in Budgets._fields)),
        app.idle(bounds.rrefs, forks),
        no_links,
        no_links,
        no_views(bounds),
    )


# -- what the steps share ----------------------------------------------------------------------------------------------


def parent_of(world: World, fork: ForkId) -> ForkId:
    """Name the fork that a user's fork was made from."""
    parent = world.lineage[fork].parent
    assert parent is not None, "only a fork made by a user has a parent to accept towards"
    return parent


def next_fork(world: World, rref: RRefId, bounds: Bounds) -> ForkId | None:
    """Name the fork of an RRef that is minted next, if one may be."""
    minted = world.minted[rref]
    return None if minted == bounds.forks or world.closing else ForkId(bounds.creator_fork(rref) + minted)


def mint(world: World, rref: RRefId, fork: ForkId, data: ForkData) -> World:
    """Mint a fork, and write into it for whom it is and where it comes from (R2)."""
    return world._replace(minted=world.minted.put(rref, world.minted[rref] + 1), lineage=world.lineage.put(fork, data))


def spend(world: World, budget: str) -> World:
    """Take one from a budget."""
    left = getattr(world.budgets, budget)
    return world._replace(budgets=world.budgets._replace(**{budget: left - 1}))
