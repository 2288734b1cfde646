"""What was seen of engines, as a neutral observation."""

from __future__ import annotations

from collections.abc import Iterable

from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.autograd.ids import PassId
from farref.impl.core.ids import WorkerId
from farref.properties.autograd.observation import PassView, ReleaseView, TaskView, WorkerView, balanced
from farref.properties.twin.backends.autograd.names import Names, name, named_counts, outcome
from farref.properties.twin.backends.autograd.seen import PassSeen, ReleaseSeen, TaskSeen, WorkerSeen


class ImplObserver:
    """Sees one worker after the other, with the model's names."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._last: dict[WorkerId, tuple[WorkerSeen, WorkerView]] = {}

    def worker(self, seen: WorkerSeen) -> WorkerView:
        """See what a worker knows of the context. Most are as they were a step ago, and so is what is seen of them."""
        last, view = self._last.get(seen.worker, (None, None))
        if view is None or last != seen:
            view = self._worker(seen)
            self._last[seen.worker] = seen, view
        return view

    def _worker(self, seen: WorkerSeen) -> WorkerView:
        mourned, context, number = _sorted(seen.dead), seen.context, self.names.numbers
        if context is None:
            return WorkerView(name(seen.worker), "absent", mourned=mourned)
        task = None if context.task is None else self._task(context.task)
        if not context.is_open:
            return WorkerView(name(seen.worker), "closed", task=task, mourned=mourned)
        ids = self.names.ids()
        newest = sorted((name(root), int(ids[root, *heard])) for root, heard in context.newest.items())
        return WorkerView(
            worker=name(seen.worker),
            context="open",
            sends=number(context.sends),
            recvs=number(context.recvs),
            sent=named_counts(context.sent),
            got=named_counts(context.got),
            failed=named_counts(context.failed),
            gradient=whole(context.gradient),
            task=task,
            newest=tuple(newest),
            mourned=mourned,
        )

    def _task(self, task: TaskSeen) -> TaskView:
        number = self.names.numbers
        return TaskView(
            number=self.names.passes[task.pass_id],
            expected=number(task.expected),
            arrived=number(task.arrived),
            marked=number(task.marked),
            staged=whole(task.staged),
        )

    def passes(
        self, running: Iterable[PassSeen], ended: dict[PassId, PassEnded], dead: set[WorkerId]
    ) -> list[PassView]:
        """See the passes whose root lives, those that run and those that have ended."""
        views = [self._running(one) for one in running]
        views += [self._ended(one) for one in ended.values() if one.pass_id.root not in dead]
        return sorted(views, key=lambda view: view.number)

    def _running(self, seen: PassSeen) -> PassView:
        label, pass_id = self.names.counted, seen.pass_id
        return PassView(
            number=self.names.passes[pass_id],
            root=name(pass_id.root),
            phase=seen.phase,
            engaged=_sorted(seen.engaged),
            under_way=tuple(sorted(str(label(pass_id, one)) for one in seen.under_way)),
            early=tuple(sorted(str(label(pass_id, one)) for one in seen.early)),
            uncommitted=_sorted(seen.uncommitted) if seen.phase == "committing" else (),
        )

    def _ended(self, ended: PassEnded) -> PassView:
        unreached = self.names.numbers(tuple(one.forward for one in ended.unreached))
        number = self.names.passes[ended.pass_id]
        return PassView(number, name(ended.pass_id.root), outcome(ended), unreached=unreached)


def release_view(creator: WorkerId, seen: ReleaseSeen, dead: Iterable[WorkerId]) -> ReleaseView:
    """See what the creator keeps of a release; it has closed itself, and does not wait for the dead."""
    without = {creator, *dead}
    return ReleaseView(
        told=_sorted(worker for worker in seen.told if worker not in without),
        closed=_sorted(worker for worker in seen.closed if worker not in without),
        balance=balanced((name(source) + name(target), count) for (source, target), count in seen.balance.items()),
    )


def whole(value: float | None) -> int | None:
    """Give a gradient as the whole number that it must be."""
    if value is not None and not value.is_integer():
        raise ValueError(f"the gradient {value} is no whole number")
    return None if value is None else int(value)


def _sorted(workers: Iterable[WorkerId]) -> tuple[str, ...]:
    return tuple(sorted(map(name, workers)))
