"""Mistakes one could make in the engine. Each is put in place for a moment; some test of the engine must fail then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from farref.impl.engine import engaging, engine, ledger, releasing, rooting, tables, task
from farref.impl.engine.effects import PassEnded
from farref.impl.engine.messages import Abort, Committed, Kind, Report

Mistake = tuple[type, str, Callable[..., Any]]


def adds_twice(self: task.Task, gradients: dict[Any, Any]) -> None:
    """Count what was there already once more."""
    for leaf, gradient in self._staged.items():
        gradients[leaf] = gradients.get(leaf, 0.0) + gradient + gradients.get(leaf, 0.0)


def overwrites(self: task.Task, gradients: dict[Any, Any]) -> None:
    """Forget the gradients of earlier passes."""
    gradients.update(self._staged)


def resumes_without_marks(self: task.Task, _forward: Any) -> task.Progress:
    """Pass no mark on, and keep none."""
    return task.Progress(waits=self._news())


def seeks_nothing(_self: task.Task) -> task.Progress:
    """Mark nothing."""
    return task.Progress()


def loses_what_came_early(self: ledger.Pass, messages: Any) -> None:
    """Forget that a message was processed before anybody said that it was sent."""
    self.under_way.update(messages)


def forgets_who_caused(self: ledger.Pass, messages: Any) -> None:
    """Lose what was caused: the dependency that a later message is for."""
    self.under_way.update(message for message in messages if message.kind is Kind.BEGIN)


def misses_nothing(_self: ledger.Pass) -> tuple[Any, ...]:
    """Commit, whoever waits."""
    return ()


def has_no_pass_id(self: engaging.Engaging, body: Any) -> Any:
    """Take a message for the task that is there, whatever pass it is of."""
    context = self.contexts.get(body.pass_id.context)
    if context is None or not context.is_open:
        return None
    return context.task or self._engage(context, body.pass_id)


def tells_nobody(self: rooting.Rooting, run: Any, fault: Any, unreached: Any = ()) -> None:
    """Fail without `Abort`."""
    del self.passes[run.pass_id]
    self._on_abort(Abort(run.pass_id))
    self._emit(PassEnded(run.pass_id, fault, unreached, run.late()))


def ignores_latecomers(self: rooting.Rooting, source: Any, report: Report) -> None:
    """Do not answer a report on a pass that is over."""
    if self._undecided(report.pass_id) is not None:
        _on_report(self, source, report)


_on_report = rooting.Rooting._on_report


def returns_before_commit(self: rooting.Rooting, run: Any) -> None:
    """End the pass at the decision."""
    _commit(self, run)
    for worker in tuple(run.uncommitted):
        self._on_committed(worker, Committed(run.pass_id))


_commit = rooting.Rooting._commit


def times_out_after_the_decision(self: rooting.Rooting, pass_id: Any) -> Any:
    """Fail a pass that is decided."""
    return self.passes.get(pass_id)


def forgets_at_once(self: releasing.Releasing, context_id: Any, context: tables.Context) -> None:
    """Drop a context, with its account, as it is closed."""
    _close(self, context_id, context)
    if context_id.created_on != self.me:
        self.contexts.pop(context_id, None)


_close = releasing.Releasing._close


def counts_no_arrivals(self: engine.Engine, source: Any, context_id: Any, forward: Any, node: Any) -> str | None:
    """Do not account for calls that arrive."""
    objection = _on_forward_call(self, source, context_id, forward, node)
    if context_id in self.contexts:
        self.contexts[context_id].got.clear()
    return objection


_on_forward_call = engine.Engine.on_forward_call


def leaves_passes_running(_self: releasing.Releasing, _context_id: Any, _fault: Any) -> None:
    """Release a context and let its pass be."""


MISTAKES: dict[str, Mistake] = {
    "a gradient is added twice": (task.Task, "commit", adds_twice),
    "a pass overwrites the gradients of another": (task.Task, "commit", overwrites),
    "marks are not passed on": (task.Task, "_mark", resumes_without_marks),
    "nothing is marked": (task.Task, "_seek", seeks_nothing),
    "a report that came early is lost": (ledger.Pass, "cause", loses_what_came_early),
    "what was caused is lost": (ledger.Pass, "cause", forgets_who_caused),
    "a pass ends with sends that wait": (ledger.Pass, "missing", misses_nothing),
    "messages have no pass": (engaging.Engaging, "_admit", has_no_pass_id),
    "a pass that failed is told to nobody": (rooting.Rooting, "_fail", tells_nobody),
    "latecomers get no answer": (rooting.Rooting, "_on_report", ignores_latecomers),
    "a pass returns before it is committed": (rooting.Rooting, "_commit", returns_before_commit),
    "a decided pass times out": (rooting.Rooting, "_undecided", times_out_after_the_decision),
    "a closed context is forgotten at once": (releasing.Releasing, "_close", forgets_at_once),
    "arrivals are not accounted for": (engine.Engine, "on_forward_call", counts_no_arrivals),
    "a release leaves passes running": (releasing.Releasing, "_fail_pass_of", leaves_passes_running),
}


@contextmanager
def mistaken(name: str) -> Iterator[None]:
    """Make a mistake inside a block."""
    kind, attribute, wrong = MISTAKES[name]
    right = getattr(kind, attribute)
    setattr(kind, attribute, wrong)
    try:
        yield
    finally:
        setattr(kind, attribute, right)
