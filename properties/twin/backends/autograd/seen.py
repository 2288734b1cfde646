"""All that the engine of one worker has inside, as plain values under the ids it uses itself."""

from __future__ import annotations

from msgspec import Struct

from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.autograd.ledger import Pass
from farref.impl.core.autograd.messages import Counted
from farref.impl.core.autograd.tables import Context
from farref.impl.core.autograd.task import Task
from farref.impl.core.core import Core
from farref.impl.core.ids import Incarnation, SequenceNumber, WorkerId
from farref.properties.twin.backends.autograd.tensors import WorkerTensors


class TaskSeen(Struct, frozen=True):
    """A task."""

    pass_id: PassId
    expected: tuple[ForwardId, ...]
    arrived: tuple[ForwardId, ...]
    marked: tuple[ForwardId, ...]
    staged: float | None


class ContextSeen(Struct, frozen=True):
    """A context."""

    is_open: bool
    sends: tuple[ForwardId, ...]
    recvs: tuple[ForwardId, ...]
    sent: dict[WorkerId, int]
    got: dict[WorkerId, int]
    failed: dict[WorkerId, int]
    gradient: float | None
    task: TaskSeen | None
    newest: dict[WorkerId, tuple[Incarnation, int]]


class ReleaseSeen(Struct, frozen=True):
    """What a creator keeps of a release."""

    told: tuple[WorkerId, ...]
    closed: tuple[WorkerId, ...]
    balance: dict[tuple[WorkerId, WorkerId], int]


class PassSeen(Struct, frozen=True):
    """What a root keeps of a pass."""

    pass_id: PassId
    phase: str
    engaged: tuple[WorkerId, ...]
    under_way: tuple[Counted, ...]
    early: tuple[Counted, ...]
    uncommitted: tuple[WorkerId, ...]


class WorkerSeen(Struct, frozen=True):
    """Everything one worker has inside."""

    worker: WorkerId
    context: ContextSeen | None
    release: ReleaseSeen | None
    passes: tuple[PassSeen, ...]
    dead: tuple[WorkerId, ...]
    unanswered: tuple[tuple[WorkerId, SequenceNumber], ...]
    amiss: tuple[str, ...]


def see(core: Core, context_id: ContextId | None, tensors: WorkerTensors) -> WorkerSeen:
    """Look at a worker. There is one context in the world; any other would be amiss."""
    engine = core.engine
    context = None if context_id is None else engine.contexts.get(context_id)
    amiss = [f"it has {other}" for other in engine.contexts if other != context_id]
    if context is not None and tensors.are_decoys_caught(context.gradients):
        amiss.append("a tensor that nobody used has a gradient (A22)")
    return WorkerSeen(
        worker=core.me,
        context=None if context is None else _context(context, tensors),
        release=None if context is None else _release(context),
        passes=tuple(_pass(run) for run in engine.passes.values()),
        dead=tuple(sorted(core.dead)),
        unanswered=tuple((peer, number) for peer, number, _, _ in core.channel.unanswered()),
        amiss=tuple(amiss),
    )


def _context(context: Context, tensors: WorkerTensors) -> ContextSeen:
    return ContextSeen(
        is_open=context.is_open,
        sends=tuple(context.sends),
        recvs=tuple(context.recvs.values()),
        sent=dict(context.sent),
        got=dict(context.got),
        failed=dict(context.failed),
        gradient=tensors.gradient(context.gradients),
        task=None if context.task is None else _task(context.task, tensors),
        newest=dict(context.newest),
    )


def _task(task: Task, tensors: WorkerTensors) -> TaskSeen:
    return TaskSeen(
        pass_id=task.pass_id,
        expected=tuple(task.sends),
        arrived=tuple(forward for forward, node in task.sends.items() if node in task.come),
        marked=tuple(task.marked),
        staged=tensors.gradient(task.staged),
    )


def _release(context: Context) -> ReleaseSeen | None:
    release = context.release
    return None if release is None else ReleaseSeen(tuple(release.told), tuple(release.closed), dict(release.balance))


def _pass(run: Pass) -> PassSeen:
    return PassSeen(
        pass_id=run.pass_id,
        phase=run.phase.value,
        engaged=tuple(run.engaged),
        under_way=tuple(run.under_way),
        early=tuple(run.early),
        uncommitted=tuple(run.uncommitted),
    )
