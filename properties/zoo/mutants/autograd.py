"""Mistakes that the engine of distributed autograd can make."""

from __future__ import annotations

from typing import Any, Final

from farref.impl.core.autograd.contexts import Contexts
from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.autograd.engaging import Engaging
from farref.impl.core.autograd.ledger import Pass
from farref.impl.core.autograd.messages import Cause, Committed, Fault, Kind
from farref.impl.core.autograd.rooting import Rooting
from farref.impl.core.autograd.tables import Context
from farref.impl.core.autograd.task import Progress, Task
from farref.impl.core.channel import Incoming
from farref.impl.values.gradients import GradientWalk, read_gradients
from farref.properties.zoo.creature import PYTORCH, REVIEW
from farref.properties.zoo.mutants.mutant import Handler, Mutants

MUTANTS: Final = Mutants("autograd")

# -- gradients ---------------------------------------------------------------------------------------------------------


@MUTANTS.enter("A17", Task, "commit")
def gradients_are_added_twice(original: Handler) -> Handler:
    """What can be seen already is added once more."""

    def commit(self: Task, gradients: dict[Any, Any]) -> None:
        for leaf in self.staged:
            if leaf in gradients:
                gradients[leaf] = gradients[leaf] + gradients[leaf]
        original(self, gradients)

    return commit


@MUTANTS.enter("A23", Task, "commit")
def a_pass_overwrites_another(original: Handler) -> Handler:
    """The gradients of earlier passes are forgotten."""

    def commit(self: Task, gradients: dict[Any, Any]) -> None:
        gradients.clear()
        original(self, gradients)

    return commit


@MUTANTS.enter("A3", Incoming, "take")
def copies_take_effect_in_a_pass(original: Handler) -> Handler:
    """A control message takes effect as often as it arrives."""

    def take(self: Incoming, control: Any) -> bool:
        original(self, control)
        return True

    return take


@MUTANTS.enter("A11", Engaging, "engage")
def a_dependency_is_lost(original: Handler) -> Handler:
    """A task does not wait for the newest of its sends."""

    def engage(self: Engaging, *given: Any) -> Task:
        task: Task = original(self, *given)
        if len(task.sends) > 1:
            task.sends.popitem()
        return task

    return engage


@MUTANTS.enter("A13", GradientWalk, "arrive", origin=REVIEW)
def one_gradient_of_a_pair_is_taken(_: Handler) -> Handler:
    """Of the gradients that come for the tensors of a pair, the first one is taken."""

    def arrive(self: GradientWalk, root: Any, written: bytes) -> None:
        first, *others = read_gradients(written)
        self._walk.arrive(root, (first, *[None for _ in others]))

    return arrive


@MUTANTS.enter("A13", GradientWalk, "arrive", origin=REVIEW)
def gradients_of_a_pair_are_mixed_up(_: Handler) -> Handler:
    """The gradients that come for the tensors of a pair are taken in another order."""

    def arrive(self: GradientWalk, root: Any, written: bytes) -> None:
        gradients = read_gradients(written)
        others = [one for one in gradients if one is not None]
        self._walk.arrive(root, tuple(None if one is None else others.pop() for one in gradients))

    return arrive


# -- passes ------------------------------------------------------------------------------------------------------------


@MUTANTS.enter("A16", Task, "_mark")
def marks_are_not_passed_on(original: Handler) -> Handler:
    """A mark is neither kept nor passed on."""

    def mark(self: Task, forward: Any) -> Progress:
        return Progress(waits=self._news())

    return mark


@MUTANTS.enter("A16", Task, "_seek")
def nothing_is_marked(original: Handler) -> Handler:
    """A worker that is asked what gradients can still come for says nothing."""
    return lambda self: Progress()


@MUTANTS.enter("A14", Pass, "cause")
def an_early_report_is_forgotten(original: Handler) -> Handler:
    """The root forgets that a message was processed before anybody said that it was sent."""

    def cause(self: Pass, messages: Any) -> None:
        self.under_way.update(messages)

    return cause


@MUTANTS.enter("A14", Pass, "cause")
def what_was_caused_is_lost(original: Handler) -> Handler:
    """The root takes no note of what was sent."""

    def cause(self: Pass, messages: Any) -> None:
        original(self, [message for message in messages if message.kind is Kind.BEGIN])

    return cause


@MUTANTS.enter("A15", Pass, "missing")
def nobody_is_missed(original: Handler) -> Handler:
    """A pass is committed whoever still waits."""
    return lambda self: ()


@MUTANTS.enter("A12", Engaging, "_admit", origin=PYTORCH + "D5")
def messages_have_no_pass(original: Handler) -> Handler:
    """A message is taken for one of whatever pass is there."""

    def admit(self: Engaging, body: Any) -> Task | None:
        context = self._contexts.get(body.pass_id.context)
        task = None if context is None else context.task
        return task or original(self, body)

    return admit


@MUTANTS.enter("A12", Engaging, "_admit")
def a_newer_pass_is_refused(original: Handler) -> Handler:
    """A worker that is in a pass refuses the next one of the same root."""

    def admit(self: Engaging, body: Any) -> Task | None:
        context = self._contexts.get(body.pass_id.context)
        task = None if context is None else context.task
        if task is not None and task.pass_id.root == body.pass_id.root and task.pass_id < body.pass_id:
            self._report_fault(body, Fault(Cause.BUSY, self._me))
            return None
        return original(self, body)  # type: ignore[no-any-return]

    return admit


@MUTANTS.enter("A18", Rooting, "_fail", origin=PYTORCH + "D2")
def a_failed_pass_is_told_to_nobody(original: Handler) -> Handler:
    """A root whose pass fails leaves it, and lets the others wait."""

    def fail(self: Rooting, run: Pass, fault: Fault, unreached: Any = ()) -> None:
        del self._passes[run.pass_id]
        self._engaging.leave(run.pass_id)
        self._emit(PassEnded(run.pass_id, fault, unreached, run.late()))

    return fail


@MUTANTS.enter("A19", Rooting, "on_report")
def latecomers_get_no_answer(original: Handler) -> Handler:
    """A report on a pass that is over is not answered."""

    def on_report(self: Rooting, source: Any, report: Any) -> None:
        if self._undecided(report.pass_id) is not None:
            original(self, source, report)

    return on_report


@MUTANTS.enter("A17", Rooting, "_commit")
def a_pass_returns_before_it_is_committed(original: Handler) -> Handler:
    """Backward returns at the decision, before the gradients can be seen everywhere."""

    def commit(self: Rooting, run: Pass) -> None:
        original(self, run)
        for worker in tuple(run.uncommitted):
            self.on_committed(worker, Committed(run.pass_id))

    return commit


@MUTANTS.enter("A17", Engaging, "on_commit")
def a_worker_commits_late(original: Handler) -> Handler:
    """A worker answers that its gradients can be seen, and leaves without showing them."""

    def on_commit(self: Engaging, _: Any, commit: Any) -> None:
        self.leave(commit.pass_id)
        self._tell(commit.pass_id.root, Committed(commit.pass_id))

    return on_commit


@MUTANTS.enter("A20", Rooting, "_undecided")
def a_decided_pass_times_out(original: Handler) -> Handler:
    """A timeout fails a pass that is decided."""
    return lambda self, pass_id: self._passes.get(pass_id)


# -- contexts ----------------------------------------------------------------------------------------------------------


@MUTANTS.enter("A25", Contexts, "_close", origin=PYTORCH + "D6")
def a_closed_context_is_forgotten_at_once(original: Handler) -> Handler:
    """A worker that closes a context drops its id too."""

    def close(self: Contexts, context_id: Any, context: Context, let_end: Any) -> None:
        original(self, context_id, context, let_end)
        if context_id.created_on != self._me:
            self._contexts.pop(context_id, None)

    return close


@MUTANTS.enter("A25", Contexts, "record_arrival")
def arrivals_are_not_accounted_for(original: Handler) -> Handler:
    """Calls that have arrived are not counted."""

    def record_arrival(self: Contexts, source: Any, context_id: Any, forward: Any, node: Any) -> str | None:
        objection: str | None = original(self, source, context_id, forward, node)
        if context_id in self._contexts:
            self._contexts[context_id].got.clear()
        return objection

    return record_arrival


@MUTANTS.enter("A24", Rooting, "fail_pass_of", origin=PYTORCH + "D9")
def a_release_leaves_passes_running(original: Handler) -> Handler:
    """A context is released, and its passes go on."""
    return lambda self, context_id, fault: None


@MUTANTS.enter("A21", Contexts, "_have_closed")
def a_release_does_not_ask_everybody(original: Handler) -> Handler:
    """After a death only those are told to close who are known to have been called."""

    def have_closed(self: Contexts, context_id: Any, release: Any, workers: Any) -> None:
        dead, self._dead = self._dead, {}
        original(self, context_id, release, [worker for worker in workers if worker not in dead])
        self._dead = dead

    return have_closed


@MUTANTS.enter("A21", Engaging, "leave_passes_of")
def a_dead_root_is_waited_for(original: Handler) -> Handler:
    """A worker stays in a pass whose root is dead."""
    return lambda self, root: None
