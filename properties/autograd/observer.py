"""The model of distributed autograd, as an observation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from farref.model.autograd import messages as msg
from farref.model.autograd.addressing import ends
from farref.model.autograd.graphs import Graph
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.ledger import Line
from farref.model.autograd.messages import Calls, Fault, Told
from farref.model.autograd.root import Pass, Phase, missing
from farref.model.autograd.worker import Context, Worker, is_in_a_pass
from farref.model.autograd.world import Bounds, World, graph_of, is_excluded, pass_of
from farref.model.ids import WorkerId, worker_name
from farref.properties.autograd.observation import (
    Counts,
    MessageView,
    Observation,
    PassView,
    ReleaseView,
    TaskView,
    WorkerView,
    balanced,
    counts,
)

CONTEXTS: Final = {Context.ABSENT: "absent", Context.OPEN: "open", Context.CLOSED: "closed", Context.GONE: "absent"}
"""To a worker, GONE is ABSENT (A8)."""

ENDED_WELL: Final = "ended well"


class ModelObserver:
    """Looks at the worlds of one run.

    Most of a world is as it was a step ago, and within one run a view follows from its record alone, so it is made once.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._workers: dict[tuple[WorkerId, Worker], WorkerView] = {}
        self._passes: dict[tuple[PassId, Pass], PassView] = {}
        self._messages = list(bounds.places)

    def observe(self, world: World) -> Observation:
        """Look at a world."""
        if world.graph is None:
            return Observation(tuple(self._unknowing(world)), (), None, (), ())
        living = [who for who in self.bounds.worker_ids if who not in world.dead]
        flying, unanswered = self._parcels(world)
        return Observation(
            workers=tuple(self._worker(who, world.workers[who], graph_of(world, self.bounds)) for who in living),
            passes=tuple(self._running(world)),
            release=self._release(world),
            flying=tuple(sorted(flying)),
            unanswered=tuple(sorted(unanswered)),
        )

    def _unknowing(self, world: World) -> Iterator[WorkerView]:
        for who in self.bounds.worker_ids:
            yield WorkerView(worker_name(who), CONTEXTS[world.workers[who].context])

    def _worker(self, who: WorkerId, record: Worker, graph: Graph) -> WorkerView:
        view = self._workers.get((who, record))
        if view is None:
            view = self._workers[who, record] = worker_view(who, record, graph)
        return view

    def _running(self, world: World) -> Iterator[PassView]:
        for number in self.bounds.pass_ids:
            record = pass_of(world, number)
            if record.root is not None and (record.root not in world.dead or is_excluded(world, record.root)):
                view = self._passes.get((number, record))
                if view is None:
                    view = self._passes[number, record] = pass_view(number, record)
                yield view

    def _release(self, world: World) -> ReleaseView | None:
        if world.workers[CREATOR].context is not Context.CLOSED:
            return None
        record, dead = world.release, {*world.workers[CREATOR].mourned.members()}
        account = [*_account(record.sent.members(), 1, self._pairs(world))]
        account += _account(record.settled.members(), -1, self._pairs(world))
        return ReleaseView(
            told=_names(worker for worker in record.asked.members() if worker not in dead),
            closed=_names(worker for worker in record.closed.members() if worker != CREATOR and worker not in dead),
            balance=balanced(account),
        )

    def _pairs(self, world: World) -> Graph:
        return graph_of(world, self.bounds)

    def _parcels(self, world: World) -> tuple[list[MessageView], list[MessageView]]:
        """See what is under way, and which control messages of the living have no answer yet."""
        flying, unanswered, network = list[MessageView](), list[MessageView](), world.network
        for place, content in enumerate(network.carried):
            if content is None:
                continue
            message = self._messages[place]
            source, target = ends(world, message, self.bounds)
            addresses = (str(message), worker_name(source), worker_name(target))
            if place not in network.lost:
                flying.append(MessageView(*addresses, content_of(message, content, self._pairs(world))))
            is_over = source in world.dead or target in world.workers[source].mourned  # nobody sends it again
            is_control = not isinstance(message, msg.ForwardCall)
            if is_control and place not in network.processed and not is_over:
                unanswered.append(MessageView(*addresses))
        return flying, unanswered


def worker_view(who: WorkerId, record: Worker, graph: Graph) -> WorkerView:
    """See one worker."""
    name, pairs, mourned = worker_name(who), graph.pairs, _names(record.mourned.members())
    if record.context is not Context.OPEN:
        return WorkerView(name, CONTEXTS[record.context], task=_task(record), mourned=mourned)
    return WorkerView(
        worker=name,
        context=CONTEXTS[record.context],
        sends=tuple(record.sends.members()),
        recvs=tuple(record.recvs.members()),
        sent=counts(worker_name(pairs[pair].target) for pair in record.sent.members()),
        got=counts(worker_name(pairs[pair].source) for pair in record.got.members()),
        failed=counts(worker_name(pairs[pair].target) for pair in record.failed.members()),
        gradient=record.gradient,
        task=_task(record),
        newest=_newest(record),
        mourned=mourned,
    )


def _task(record: Worker) -> TaskView | None:
    if not is_in_a_pass(record):
        return None
    task = record.task
    arrived = tuple(pair for pair, number in enumerate(task.arrivals) if number)
    return TaskView(
        task.number, tuple(task.expected.members()), arrived, tuple(task.marked.members()), staged=task.staged
    )


def _newest(record: Worker) -> Counts:
    heard = ((worker_name(WorkerId(root)), int(number)) for root, number in enumerate(record.newest) if number)
    return tuple(sorted(heard))


def pass_view(number: PassId, record: Pass) -> PassView:
    """See one pass."""
    assert record.root is not None, "a pass that is seen has begun"
    root = worker_name(record.root)
    if record.phase is Phase.SUCCEEDED:
        return PassView(number, root, ENDED_WELL)
    if record.phase is Phase.FAILED:
        unreached = tuple(map(int, missing(record))) if record.fault is Fault.UNREACHED else ()
        return PassView(number, root, failed(record), unreached=unreached)
    waiting = [worker for worker in record.engaged.members() if worker not in record.committed]
    return PassView(
        number=number,
        root=root,
        phase=record.phase.name.lower(),
        engaged=_names(record.engaged.members()),
        under_way=_ledger(number, record, Line.CAUSED),
        early=_ledger(number, record, Line.PROCESSED),
        uncommitted=_names(waiting) if record.phase is Phase.COMMITTING else (),
    )


def failed(record: Pass) -> str:
    """Say why a pass has failed, and what the error names: FAST names sends, which are listed beside it."""
    if record.fault is Fault.UNREACHED or record.blamed is None:
        return record.fault.name
    return f"{record.fault.name} {worker_name(record.blamed)}"


def _ledger(number: PassId, record: Pass, line: Line) -> tuple[str, ...]:
    pairs = [PairId(pair) for pair in range(len(record.expected))]
    workers = [WorkerId(worker) for worker in range(len(record.engaged))]
    about: list[msg.Counted] = [msg.PropagateGradients(number, pair) for pair in pairs]
    about += [msg.Mark(number, pair) for pair in pairs]
    about += [kind(number, worker) for kind in (msg.Seek, msg.Resume) for worker in workers]
    return tuple(sorted(str(one) for one, found in zip(about, record.ledger, strict=True) if found is line))


def content_of(message: msg.Message, content: object, graph: Graph) -> str:
    """Say what a message carries, as far as it matters to others."""
    match message, content:
        case msg.PropagateGradients(), int() as value:
            return str(value)
        case msg.Report(), Told() as told:
            return report_content((str(one) for one in told.caused), told.fault.name)
        case msg.ForwardCall(), attached:
            return "a pair" if attached else "no pair"
        case msg.Forget(), frozenset() as dead:
            return " ".join(_names(dead))
        case msg.Closed(), Calls(sent, settled):
            return account_content([*_account(sent, 1, graph), *_account(settled, -1, graph)])
        case _:
            return ""


def report_content(caused: Iterable[str], fault: str) -> str:
    """Say what a report tells: what was caused, or why the pass fails."""
    return ", ".join(["caused", *sorted(caused)]) if fault == Fault.NONE.name else fault


def account_content(account: Iterable[tuple[str, int]]) -> str:
    """Say what an account of calls comes to."""
    return " ".join(f"{name}:{number:+}" for name, number in balanced(account))


def _account(pairs: Iterable[int], sign: int, graph: Graph) -> Iterator[tuple[str, int]]:
    for pair in pairs:
        yield worker_name(graph.pairs[pair].source) + worker_name(graph.pairs[pair].target), sign


def _names(workers: Iterable[int]) -> tuple[str, ...]:
    return tuple(sorted(worker_name(WorkerId(worker)) for worker in workers))
