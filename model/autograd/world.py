"""A bounded world of distributed autograd: how large it is, and everything there is in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from farref.model.autograd import messages as msg
from farref.model.autograd import network as net
from farref.model.autograd.graphs import Graph, every_graph
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.release import Release, no_release
from farref.model.autograd.root import Pass, no_pass
from farref.model.autograd.spelling import find_graph
from farref.model.autograd.worker import Context, Task, Worker, record_send, stranger
from farref.model.ids import WorkerId
from farref.model.values import IdSet, Table, no_ids, quicken

EVERY: Final = "every"
"""Stands for all graphs of a size, in place of the name of one."""


@dataclass(frozen=True)
class Bounds:
    """How large a world is, and how much may go wrong in it."""

    graph: str = EVERY  # a graph by name or spelled out, or all graphs with these numbers of workers and pairs
    workers: int = 2
    pairs: int = 1
    passes: int = 1  # calls of `backward`
    drops: int = 0  # control messages the network may lose
    duplicates: int = 0  # control messages it may deliver once more
    timeouts: int = 0  # passes the application may give up
    failures: int = 0  # backward rules that raise, and calls that cannot be sent or understood
    detached: int = 0  # calls made with recording switched off
    crashes: int = 0  # workers that die
    cuts: int = 0  # links that break while both ends live
    exclusions: int = 0  # workers that are excluded, and go on
    smart: bool = False  # SMART, not FAST
    forward: bool = False  # the calls are steps too, not only the passes
    release: bool = False  # the context is released at some time

    @cached_property
    def catalogue(self) -> tuple[Graph, ...]:
        """The graphs that may have been recorded."""
        return every_graph(self.workers, self.pairs) if self.graph == EVERY else (find_graph(self.graph),)

    @property
    def mourning(self) -> bool:
        """Whether somebody may be taken for dead, rightly or not."""
        return bool(self.crashes or self.cuts or self.exclusions)

    @property
    def worker_ids(self) -> list[WorkerId]:
        """The workers."""
        return [WorkerId(worker) for worker in range(self.catalogue[0].workers)]

    @property
    def pair_ids(self) -> list[PairId]:
        """The pairs."""
        return self.catalogue[0].pair_ids

    @property
    def pass_ids(self) -> list[PassId]:
        """The passes, in the order they begin."""
        return [PassId(number) for number in range(1, self.passes + 1)]

    @cached_property
    def places(self) -> dict[msg.Message, int]:
        """The number of every message there can be."""
        return {message: place for place, message in enumerate(_messages(self))}


def _messages(bounds: Bounds) -> Iterator[msg.Message]:
    for number in bounds.pass_ids:
        counted: list[msg.Counted] = [msg.PropagateGradients(number, pair) for pair in bounds.pair_ids]
        if bounds.smart:
            counted += [msg.Mark(number, pair) for pair in bounds.pair_ids]
            counted += [kind(number, worker) for kind in (msg.Seek, msg.Resume) for worker in bounds.worker_ids]
        yield from counted
        yield from map(msg.Report, counted)
        for kind in (msg.Commit, msg.Committed, msg.Abort):
            yield from (kind(number, worker) for worker in bounds.worker_ids)
    if bounds.forward:
        yield from map(msg.ForwardCall, bounds.pair_ids)
    if bounds.release:
        yield from (msg.Settled(pair, failed) for failed in (False, True) for pair in bounds.pair_ids)
        for about in (msg.CleanupContext, msg.Closed, msg.Forget):
            yield from map(about, bounds.worker_ids)


class Budgets(NamedTuple):
    """What may still go wrong."""

    drops: int
    duplicates: int
    timeouts: int
    failures: int
    detached: int
    crashes: int
    cuts: int


class World(NamedTuple):
    """Everything there is."""

    graph: int | None  # the place of the graph in the catalogue; None if none is chosen yet
    workers: Table[Worker]  # by WorkerId
    passes: Table[Pass]  # by PassId - 1
    detached: IdSet  # the calls that were made with recording switched off: what the application wanted
    release: Release
    network: net.Network
    budgets: Budgets
    dead: IdSet  # the workers that take no step any more: they have died, or know that they are excluded
    excluded: Table[int]  # by WorkerId: the view that excludes it, 0 for a member; empty where nobody may be excluded
    apart: IdSet  # the links that are broken, by number; empty where none may break
    released: bool = False  # the creator has released the context


quicken(World, Worker, Task, Pass, Release, net.Network, Budgets)


def empty_world(bounds: Bounds) -> World:
    """Make the world in which nothing has happened yet."""
    workers, pairs = len(bounds.worker_ids), len(bounds.pair_ids)
    world = World(
        None,
        Table((stranger(workers, pairs),) * workers).put(
            CREATOR, stranger(workers, pairs)._replace(context=Context.OPEN)
        ),
        Table((no_pass(workers, pairs),) * bounds.passes),
        no_ids(pairs),
        no_release(workers, pairs),
        net.quiet(len(bounds.places)),
        Budgets(*(getattr(bounds, name) for name in Budgets._fields)),
        no_ids(workers),
        Table((0,) * workers if bounds.exclusions else ()),
        no_ids(workers * workers if bounds.cuts else 0),
    )
    return choose(world, 0, bounds) if len(bounds.catalogue) == 1 else world


def choose(world: World, place: int, bounds: Bounds) -> World:
    """Settle what is recorded; if calls are no steps here, it is recorded at once."""
    world = world._replace(graph=place)
    return world if bounds.forward else _recorded(world, bounds.catalogue[place])


def _recorded(world: World, graph: Graph) -> World:
    workers = world.workers
    for pair in graph.pair_ids:
        source, target = graph.pairs[pair].source, graph.pairs[pair].target
        sender = record_send(workers[source], pair, attached=True)
        workers = workers.put(source, sender._replace(context=Context.OPEN))
        receiver = workers[target]
        received = receiver._replace(recvs=receiver.recvs.add(pair), got=receiver.got.add(pair), context=Context.OPEN)
        workers = workers.put(target, received)
    for root in sorted(graph.roots):
        workers = workers.put(root, workers[root]._replace(context=Context.OPEN))
    return world._replace(workers=workers)


def graph_of(world: World, bounds: Bounds) -> Graph:
    """Give the graph of a world."""
    assert world.graph is not None, "whoever asks for the graph comes after the choice"
    return bounds.catalogue[world.graph]


def seed_of(number: PassId) -> int:
    """Give the gradient a pass begins with: another one for each, so that they cannot be mistaken for each other."""
    return 1 if number == 1 else 1000 ** (number - 1)


# -- its records -------------------------------------------------------------------------------------------------------


def put_worker(world: World, who: WorkerId, worker: Worker) -> World:
    """Put a worker's record back."""
    return world._replace(workers=world.workers.put(who, worker))


def pass_of(world: World, number: PassId) -> Pass:
    """Find a pass."""
    return world.passes[number - 1]


def put_pass(world: World, number: PassId, record: Pass) -> World:
    """Put the root's record of a pass back."""
    return world._replace(passes=world.passes.put(number - 1, record))


def root_of(world: World, number: PassId) -> WorkerId:
    """Name the root of a pass that has begun."""
    root = pass_of(world, number).root
    assert root is not None, "a pass that something happens to has a root"
    return root


def is_excluded(world: World, worker: WorkerId) -> bool:
    """Say whether the authority has excluded a worker, whoever knows of it (R35)."""
    return len(world.excluded) > 0 and world.excluded[worker] > 0


def link_of(world: World, one: WorkerId, other: WorkerId) -> int:
    """Number the link between two workers."""
    return min(one, other) * len(world.workers) + max(one, other)


def is_apart(world: World, one: WorkerId, other: WorkerId) -> bool:
    """Say whether the link between two workers is broken, and not mended yet."""
    return len(world.apart) > 0 and link_of(world, one, other) in world.apart


def spend(world: World, budget: str) -> World | None:
    """Use up some of what may go wrong; None if nothing of it is left."""
    left = getattr(world.budgets, budget)
    return world._replace(budgets=world.budgets._replace(**{budget: left - 1})) if left else None
