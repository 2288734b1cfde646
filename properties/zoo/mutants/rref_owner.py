"""Mistakes that an owner can make."""

from __future__ import annotations

from typing import Any, Final

from farref.impl.core.effects import Failure
from farref.impl.core.entries import Entry, Phase
from farref.impl.core.ids import OwnedReference
from farref.impl.core.owner import Owner
from farref.properties.zoo.creature import PYTORCH
from farref.properties.zoo.mutants.mutant import Handler, Mutants

MUTANTS: Final = Mutants("rref")


@MUTANTS.enter("R10", Owner, "on_remote_call")
def creator_is_not_counted(original: Handler) -> Handler:
    """The owner makes the entry and forgets to count its creator."""

    def on_remote_call(self: Owner, source: Any, message: Any) -> None:
        original(self, source, message)
        del self.entries[message.rref].forks[message.fork]

    return on_remote_call


@MUTANTS.enter("R21", Owner, "_settle", "R21.overtaken", origin=PYTORCH + "N1")
def expected_entry_is_dropped(original: Handler) -> Handler:
    """An entry that waits for its creation goes when its last fork goes."""

    def settle(self: Owner, rref: Any, entry: Entry) -> None:
        if entry.phase is Phase.EXPECTED and not entry.forks:
            del self.entries[rref]
        else:
            original(self, rref, entry)

    return settle


@MUTANTS.enter("R22", Entry, "is_named")
def local_references_do_not_count(_: Handler) -> Handler:
    """An entry goes with its last fork, whoever uses it on the owner."""
    return lambda self: bool(self.forks)


@MUTANTS.enter("R14", Owner, "share")
def owner_shares_without_counting(_: Handler) -> Handler:
    """The owner sends a fork that it does not count."""
    return lambda self, rref, fork, holder: self._held(rref)


@MUTANTS.enter("R28", Owner, "withdraw")
def owner_does_not_withdraw(_: Handler) -> Handler:
    """A fork whose message failed stays counted."""
    return lambda self, rref, fork: None


@MUTANTS.enter("R19", Owner, "take_from_self")
def owner_keeps_counting_its_own_fork(_: Handler) -> Handler:
    """A fork that the owner sent to itself becomes a local reference, and stays counted too."""

    def take(self: Owner, data: Any) -> OwnedReference:
        self.entries[data.rref].held += 1
        return OwnedReference(data.rref)

    return take


@MUTANTS.enter("R26", Owner, "_discard")
def deleted_fork_leaves_its_entry(_: Handler) -> Handler:
    """The last fork goes, and nobody asks whether the entry may go too."""
    return lambda self, rref, fork: self.entries[rref].forks.pop(fork, None) if rref in self.entries else None


@MUTANTS.enter("R20", Owner, "on_fetch_call")
def early_fetch_is_forgotten(original: Handler) -> Handler:
    """A fetch that arrives before the creation is thrown away."""

    def on_fetch_call(self: Owner, source: Any, message: Any, *rest: Any) -> None:
        if message.rref in self.entries:
            original(self, source, message, *rest)

    return on_fetch_call


@MUTANTS.enter("R23", Owner, "_make_ready")
def only_one_fetch_is_answered(original: Handler) -> Handler:
    """When the value is there, one of those who asked for it gets it."""

    def make_ready(self: Owner, rref: Any, entry: Entry, outcome: Any) -> None:
        entry.fetches = entry.fetches[:1]
        original(self, rref, entry, outcome)

    return make_ready


@MUTANTS.enter("R21", Owner, "_make_ready")
def nobody_on_the_owner_is_woken(original: Handler) -> Handler:
    """Code on the owner that waits for the value is forgotten when it comes."""

    def make_ready(self: Owner, rref: Any, entry: Entry, outcome: Any) -> None:
        entry.waiting = []
        original(self, rref, entry, outcome)

    return make_ready


@MUTANTS.enter("R29", Owner, "on_create_failed")
def failed_creator_is_not_counted(_: Handler) -> Handler:
    """The error is kept in place of the value, and the creator is not counted."""
    return lambda self, _, message: self._make_ready(message.rref, self._row(message.rref), Failure(message.reason))


@MUTANTS.enter("R34", Owner, "on_fork_request")
def fork_is_counted_for_its_parent(original: Handler) -> Handler:
    """A fork is written down as the parent's, so its own delete is taken for a stranger's."""
    return lambda self, _, message: original(self, message.fork.created_on, message)


@MUTANTS.enter("R16", Owner, "on_fork_request")
def fork_is_not_counted_before_the_creation(original: Handler) -> Handler:
    """A fork request that overtakes the creation is answered without counting."""

    def on_fork_request(self: Owner, source: Any, message: Any) -> None:
        if message.rref in self.entries:
            original(self, source, message)

    return on_fork_request
