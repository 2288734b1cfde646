"""What must hold of distributed autograd, whoever runs it and whatever the network does.

S1 to S11 are safety, L1 to L6 liveness, T1 is the theorem on FAST (A15). Each is a sentence and a family of small
predicates, one for each worker, pass or pair, so that a violation says which one it was. The order is that of severity:
where a run breaks several, the first one listed is told.

What the gradients should be is computed from the graph alone (`graphs.oracle`). The same equation is S1, S2, S3 or S8, by
what has happened before: one pass, several, one that failed before one that did not, or only such that failed.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial

from farref.model.autograd.addressing import ends
from farref.model.autograd.graphs import Graph, oracle, unreached
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.messages import Commit, Fault, Mark, Message, PropagateGradients, Resume, Seek
from farref.model.autograd.root import Phase, missing
from farref.model.autograd.worker import Context, is_in_a_pass
from farref.model.autograd.world import Bounds, World, graph_of, is_excluded, pass_of, seed_of
from farref.model.checker.interface import Kind, Property
from farref.model.ids import WorkerId
from farref.properties.autograd.families import per_pair, per_pass, per_worker
from farref.properties.build import make_property

# -- gradients ---------------------------------------------------------------------------------------------------------


def one_pass_gives_the_gradient(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """S1: when `backward` has returned, every parameter has the gradient that one process would have given it."""
    return _outcomes(world, bounds) != (1, 0) or _is_right(world, worker, bounds)


def passes_add_up(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """S2: after several passes that ended well, every parameter has the sum of their gradients."""
    succeeded, failed = _outcomes(world, bounds)
    return succeeded < 2 or failed > 0 or _is_right(world, worker, bounds)


def a_failed_pass_leaves_nothing_to_others(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """S3: a pass that ended well gives its own gradient: nothing of a pass that failed is in it."""
    succeeded, failed = _outcomes(world, bounds)
    return not (succeeded and failed) or _is_right(world, worker, bounds)


def a_failed_pass_shows_nothing(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """S8: when `backward` has raised, nothing of its gradients can be seen, then or later."""
    succeeded, failed = _outcomes(world, bounds)
    return succeeded > 0 or failed == 0 or _is_right(world, worker, bounds)


def _outcomes(world: World, bounds: Bounds) -> tuple[int, int]:
    """Count the passes that ended well and those that failed; none of either while one is under way."""
    records = [pass_of(world, number) for number in bounds.pass_ids]
    phases = [record.phase for record in records]
    if any(record.fault is Fault.EXCLUDED and not record.committed.is_empty() for record in records):
        return 0, 0  # decided, and its root has fallen silent: some show its gradients, and some may not (A21)
    if any(phase not in (Phase.IDLE, Phase.SUCCEEDED, Phase.FAILED) for phase in phases):
        return 0, 0
    return phases.count(Phase.SUCCEEDED), phases.count(Phase.FAILED)


def _is_right(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    record = world.workers[worker]
    if record.context is not Context.OPEN or record.resurrected or is_lost(world, worker):
        return True  # there is nothing to be seen, or it is S10 that is broken
    return record.gradient == right_gradient(world, worker, bounds)


def right_gradient(world: World, worker: WorkerId, bounds: Bounds) -> int | None:
    """Give the gradient that a worker should show: the sum over the passes that ended well, as one process computes it."""
    ended = [number for number in bounds.pass_ids if pass_of(world, number).phase is Phase.SUCCEEDED]
    roots = tuple((number, pass_of(world, number).root) for number in ended)
    return _gradient(graph_of(world, bounds), worker, roots, _attached(world, bounds))


@cache
def _gradient(
    graph: Graph, worker: WorkerId, roots: tuple[tuple[PassId, WorkerId], ...], attached: frozenset[PairId]
) -> int | None:
    each = [oracle(graph, root, attached, seed_of(number)).get(worker) for number, root in roots]
    there = [gradient for gradient in each if gradient is not None]
    return sum(there) if there else None


def _attached(world: World, bounds: Bounds) -> frozenset[PairId]:
    return frozenset(pair for pair in bounds.pair_ids if pair not in world.detached)


# -- passes ------------------------------------------------------------------------------------------------------------


def every_gradient_is_taken_once(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """S4: no send takes more than one gradient in a pass."""
    return all(arrivals <= 1 for arrivals in world.workers[worker].task.arrivals)


def every_recv_has_its_send(world: World, pair: PairId, bounds: Bounds) -> bool:
    """S5: where a recv is recorded, its send is recorded on the worker that the tensors came from."""
    if world.graph is None:
        return True
    of_pair = graph_of(world, bounds).pairs[pair]
    source = world.workers[of_pair.source]
    return pair not in world.workers[of_pair.target].recvs or source.context is not Context.OPEN or pair in source.sends


def no_pass_survives_its_context(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """S9: a worker that takes part in a pass has its context open."""
    record = world.workers[worker]
    return not is_in_a_pass(record) or record.context is Context.OPEN


def no_pass_goes_on_where_it_ended(world: World, number: PassId, bounds: Bounds) -> bool:
    """S9, at the root: when `backward` has returned or raised, its worker is no longer in that pass."""
    record = pass_of(world, number)
    if record.root is None or record.phase not in (Phase.SUCCEEDED, Phase.FAILED):
        return True
    return world.workers[record.root].task.number != number


def backward_returns_when_nothing_is_under_way(world: World, number: PassId, bounds: Bounds) -> bool:
    """S11: `backward` returns only when no message of its pass is under way and no worker is in it."""
    if pass_of(world, number).phase is not Phase.SUCCEEDED:
        return True
    return not any(_is_under_way(world, *one, bounds) for one in _places_of(bounds, number)) and not any(
        worker.task.number == number and not is_lost(world, WorkerId(who)) for who, worker in enumerate(world.workers)
    )


@lru_cache(maxsize=256)
def _places_of(bounds: Bounds, number: PassId) -> tuple[tuple[Message, int], ...]:
    """List all messages of a pass that somebody waits for, with their places."""
    kinds = (PropagateGradients, Mark, Seek, Resume, Commit)
    return tuple(one for one in bounds.places.items() if isinstance(one[0], kinds) and one[0].number == number)


def _is_under_way(world: World, message: Message, place: int, bounds: Bounds) -> bool:
    """Say whether a message will arrive and take effect: one of, or to, somebody excluded does not count."""
    if world.network.carried[place] is None or place in world.network.processed:
        return False
    return not (bounds.exclusions and any(is_lost(world, end) for end in ends(world, message, bounds)))


def is_lost(world: World, worker: WorkerId) -> bool:
    """Say whether a worker has died or is excluded, whoever knows of it. Nothing is promised of its gradients (A29)."""
    return worker in world.dead or is_excluded(world, worker)


def fast_completes_exactly_when_it_can(world: World, number: PassId, bounds: Bounds) -> bool:
    """T1: FAST ends well if every send on a worker that takes part gets a gradient, and else names one that does not."""
    record = pass_of(world, number)
    if record.root is None or (record.phase is not Phase.SUCCEEDED and record.fault is not Fault.UNREACHED):
        return True
    graph = graph_of(world, bounds)
    without = _unreached(graph, record.root)
    if record.phase is Phase.SUCCEEDED:
        return not without
    named = missing(record)
    return not without.isdisjoint(named) and record.blamed in {graph.pairs[pair].source for pair in named}


@cache
def _unreached(graph: Graph, root: WorkerId) -> frozenset[PairId]:
    every = frozenset(graph.pair_ids)  # recorded from the start: a worker that closed, or died, has dropped its sends
    return unreached(graph, root, every, every)


def a_pass_fails_for_a_reason_of_its_own(world: World, number: PassId, bounds: Bounds) -> bool:
    """L6: a pass fails only if something went wrong in it: what happened to an earlier pass is no reason."""
    record, budgets = pass_of(world, number), world.budgets
    match record.fault:
        case Fault.NONE:
            return True
        case Fault.RAISED:
            return budgets.failures < bounds.failures
        case Fault.TIMED_OUT:
            return budgets.timeouts < bounds.timeouts
        case Fault.UNREACHED:
            return not bounds.smart
        case Fault.BUSY:
            return any(one.root not in (None, record.root) for one in world.passes)
        case Fault.RELEASED:
            return world.released or is_lost(world, CREATOR)  # whoever hears of that death forgets the context (A21)
        case Fault.DIED:
            is_cut_off = budgets.cuts < bounds.cuts
            return record.blamed is not None and (is_cut_off or is_lost(world, record.blamed))
        case Fault.EXCLUDED:
            return record.root is not None and is_excluded(world, record.root)
        case _:
            return False


# -- contexts ----------------------------------------------------------------------------------------------------------


def a_forgotten_context_stays_forgotten(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """S10: a worker that has forgotten a context never has it again."""
    return not world.workers[worker].resurrected


# -- liveness ----------------------------------------------------------------------------------------------------------


def every_pass_ends(world: World, number: PassId, bounds: Bounds) -> bool:
    """L1: every call of `backward` returns, or raises, unless its caller dies."""
    record = pass_of(world, number)
    is_over = record.phase in (Phase.IDLE, Phase.SUCCEEDED, Phase.FAILED)
    return is_over or (record.root is not None and record.root in world.dead)


def every_worker_leaves(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """L3: every worker leaves a pass that has ended."""
    return not is_in_a_pass(world.workers[worker])


def a_released_context_is_forgotten(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """L4: a context that was released, or whose creator died, is forgotten by every worker."""
    return not (world.released or is_lost(world, CREATOR)) or world.workers[worker].context in (
        Context.ABSENT,
        Context.GONE,
    )


# -- the list ----------------------------------------------------------------------------------------------------------


def autograd_properties(bounds: Bounds) -> tuple[Property, ...]:
    """List the properties of a bounded world, the most severe first."""
    always, eventually = partial(make_property, bounds, Kind.ALWAYS), partial(make_property, bounds, Kind.EVENTUALLY)
    return (
        always("S1", "A13", per_worker(one_pass_gives_the_gradient)),
        *([always("S2", "A17", per_worker(passes_add_up))] if bounds.passes > 1 else []),
        *([always("S3", "A12", per_worker(a_failed_pass_leaves_nothing_to_others))] if bounds.passes > 1 else []),
        always("S8", "A17", per_worker(a_failed_pass_shows_nothing)),
        always("S4", "A3", per_worker(every_gradient_is_taken_once)),
        always("S5", "A7", per_pair(every_recv_has_its_send)),
        always("S10", "A25", per_worker(a_forgotten_context_stays_forgotten)),
        eventually("L1", "A14", per_pass(every_pass_ends)),
        eventually("L3", "A18", per_worker(every_worker_leaves)),
        always(
            *("S9", "A24", per_worker(no_pass_survives_its_context), per_pass(no_pass_goes_on_where_it_ended)),
            text="No pass survives its context, or its end.",
        ),
        always("S11", "A14", per_pass(backward_returns_when_nothing_is_under_way)),
        always("L6", "A12", per_pass(a_pass_fails_for_a_reason_of_its_own)),
        eventually("L4", "A25", per_worker(a_released_context_is_forgotten)),
        *(
            [always("T1", "A15", per_pass(fast_completes_exactly_when_it_can))]
            if not bounds.smart and not bounds.forward
            else []
        ),
    )
