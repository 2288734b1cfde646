"""Mistakes that others made, told again in our handlers.

Each of them was once in a system that people use, or is what that system's own documentation warns of. `SOURCES` says where.
The same mistake need not look the same here: what is told again is the decision, not the code.
"""

from __future__ import annotations

from typing import Any, Final

from farref.impl.core.core import Core
from farref.impl.core.owner import Owner
from farref.impl.core.user import User
from farref.properties.zoo.creature import PYTORCH, RAY, RMI
from farref.properties.zoo.mutants.mutant import Handler, Mutants

MUTANTS: Final = Mutants("rref")

SOURCES: Final = {
    PYTORCH + "#27928": "https://github.com/pytorch/pytorch/issues/27928",
    PYTORCH + "#31893": "https://github.com/pytorch/pytorch/pull/31893",
    PYTORCH + "#34610": "https://github.com/pytorch/pytorch/pull/34610",
    RAY + "#16688": "https://github.com/ray-project/ray/issues/16688",
    RAY + "#19734": "https://github.com/ray-project/ray/pull/19734",
    RAY + "#19910": "https://github.com/ray-project/ray/pull/19910",
    RAY + "#60495": "https://github.com/ray-project/ray/pull/60495",
    RMI + "DGC": "https://docs.oracle.com/en/java/javase/21/docs/api/java.rmi/java/rmi/dgc/DGC.html",
}
"""Where each of them is told."""


@MUTANTS.enter("R26", Owner, "on_user_delete", origin=PYTORCH + "#31893")
def a_late_delete_ends_the_owner(original: Handler) -> Handler:
    """A delete that finds no entry is an error, and ends the worker that it was sent to."""

    def on_user_delete(self: Owner, source: Any, message: Any) -> None:
        if message.rref not in self.entries:
            raise AssertionError(f"no entry of {message.rref}")
        original(self, source, message)

    return on_user_delete


@MUTANTS.enter("R24", User, "forget_child", origin=PYTORCH + "#34610")
def a_child_that_is_not_known_ends_the_user(original: Handler) -> Handler:
    """A child that nobody waits for is an error: it had accepted, and then its message was reported as failed."""

    def forget_child(self: User, fork: Any) -> None:
        if fork not in self.parents:
            raise AssertionError(f"no child {fork}")
        original(self, fork)

    return forget_child


@MUTANTS.enter("R16", Owner, "on_fork_request", origin=RAY + "#19910")
def a_holder_is_counted_once(original: Handler) -> Handler:
    """An RRef that reaches the same worker a second time, on another way, is taken for the one that is counted."""

    def on_fork_request(self: Owner, source: Any, message: Any) -> None:
        entry = self.entries.get(message.rref)
        if entry is None or source not in [holder for _, holder in entry.forks.items()]:
            original(self, source, message)

    return on_fork_request


@MUTANTS.enter("R22", Owner, "create_local", origin=RAY + "#19734")
def a_creator_keeps_one_more_reference(original: Handler) -> Handler:
    """Whoever makes a value keeps a reference of its own that nobody lets go of."""

    def create_local(self: Owner, outcome: Any) -> Any:
        reference = original(self, outcome)
        self.hold(reference.rref)
        return reference

    return create_local


@MUTANTS.enter("R21", Owner, "await_value", origin=RAY + "#16688")
def a_late_waiter_is_never_told(original: Handler) -> Handler:
    """Code that begins to wait when the value is there already is put in line, and nobody looks at the line again."""

    def await_value(self: Owner, rref: Any, waiter: Any) -> None:
        entry = self._held(rref)
        if entry.outcome is None:
            original(self, rref, waiter)
        else:
            entry.waiting = [*entry.waiting, waiter]

    return await_value


@MUTANTS.enter("R26", Owner, "on_user_delete", origin=RAY + "#60495")
def a_fork_is_removed_once_more(original: Handler) -> Handler:
    """A fork that is told gone a second time, and is not there any more, ends the worker."""

    def on_user_delete(self: Owner, source: Any, message: Any) -> None:
        del self.entries[message.rref].forks[message.fork]
        self._settle(message.rref, self.entries[message.rref])

    return on_user_delete


@MUTANTS.enter("R26", Owner, "on_user_delete", origin=RMI + "DGC")
def a_delete_speaks_for_its_worker(original: Handler) -> Handler:
    """The owner keeps a list of workers, not of forks: one that lets go of a fork is struck off with all of them."""

    def on_user_delete(self: Owner, source: Any, message: Any) -> None:
        entry = self.entries.get(message.rref)
        for fork in [fork for fork, holder in entry.forks.items() if holder == source] if entry else []:
            self._discard(message.rref, fork)

    return on_user_delete


@MUTANTS.enter("R16", Core, "_on_control", origin=RMI + "DGC")
def a_late_request_is_taken_anew(original: Handler) -> Handler:
    """Calls are not numbered for each RRef: a copy of a fork request counts again a fork that was deleted since."""

    def on_control(self: Core, source: Any, control: Any, content: object) -> None:
        handler = self.control_handlers[type(control.body)]
        if type(control.body).__name__ == "ForkRequest" and not self.channel.from_(source).would_take(control):
            handler(source, control.body)
        original(self, source, control, content)

    return on_control


@MUTANTS.enter("R29", User, "creation_failed", origin=RMI + "DGC")
def a_failed_call_is_not_cleaned_up(_: Handler) -> Handler:
    """A creation whose call failed is given up without a word: the owner, who may have heard of it, is not told."""
    return lambda self, fork, reason: None


@MUTANTS.enter("R32", User, "let_go_of_everything", origin=PYTORCH + "#27928")
def whoever_leaves_lets_go_of_nothing(_: Handler) -> Handler:
    """A worker that leaves keeps its handles, and what it held stays counted."""
    return lambda self: None
