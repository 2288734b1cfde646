"""Mistakes with members: shortcuts on the way from a loss to its burial. The crash points must catch each of them.

The first seven are the rules that the theorem about members needs (`farref prove views --each rule`), each taken out.
"""

from __future__ import annotations

from typing import Any, Final

from farref.impl.core.authority import Authority, Order
from farref.impl.core.autograd.contexts import Contexts
from farref.impl.core.core import Core
from farref.impl.core.members import Members
from farref.impl.core.owner import Owner
from farref.impl.core.user import User
from farref.impl.core.views import Buried
from farref.properties.zoo.creature import CRASHES
from farref.properties.zoo.mutants.mutant import Handler, Mutants

MUTANTS: Final = Mutants("rref", CRASHES)


@MUTANTS.enter("R37", Core, "receive")
def the_excluded_are_heard(_: Handler) -> Handler:
    """What comes from an excluded worker takes effect."""

    def receive(self: Core, source: Any, message: Any, content: Any = None) -> Any:
        self.handlers[type(message)](source, message, content)
        return self.taken()

    return receive


@MUTANTS.enter("R37", Owner, "_check_creator")
def a_creation_of_the_excluded_is_waited_for(_: Handler) -> Handler:
    """An owner waits for a creation that it would refuse."""
    return lambda self, rref: None


@MUTANTS.enter("R39", User, "pending")
def heirs_are_not_waited_for(_: Handler) -> Handler:
    """A worker settles while it holds a fork of an excluded worker that nobody counts."""
    return lambda self: []


@MUTANTS.enter("R40", Authority, "_bury")
def not_everybody_has_to_settle(_: Handler) -> Handler:
    """A view is buried when the first worker has settled it."""

    def bury(self: Authority) -> list[Order]:
        newest, self.buried = self.view.number, self.view.number
        return [Order(member, Buried(newest)) for member in self.members()]

    return bury


@MUTANTS.enter("R40", Authority, "exclude")
def those_who_are_left_suffice(original: Handler) -> Handler:
    """A view is buried when all have settled it that are left, although somebody who is lost since has not."""

    def exclude(self: Authority, workers: Any, reason: str) -> list[Order]:
        before = self.view.number
        orders: list[Order] = original(self, workers, reason)
        left = [number for member, number in self.settled.items() if member]  # the host settles at once
        if not before or not left or min(left) < before:
            return orders
        self.buried = before
        return orders + [Order(member, Buried(before)) for member in self.members()]

    return exclude


@MUTANTS.enter("R41", Owner, "on_peer_died")
def forks_are_released_at_once(original: Handler) -> Handler:
    """An owner stops counting what a worker holds as soon as it excludes it."""

    def on_peer_died(self: Owner, peer: Any) -> None:
        original(self, peer)
        self.release({peer})

    return on_peer_died


@MUTANTS.enter("R42", User, "on_peer_died")
def children_are_forgotten_at_once(original: Handler) -> Handler:
    """A parent forgets a child as soon as the child's holder is excluded."""

    def on_peer_died(self: User, peer: Any, error: object) -> Any:
        orphans = original(self, peer, error)
        self.forget_children_of({peer})
        return orphans

    return on_peer_died


@MUTANTS.enter("R41", Owner, "release")
def nothing_is_released(_: Handler) -> Handler:
    """An owner goes on counting the buried."""
    return lambda self, gone: None


@MUTANTS.enter("R42", User, "forget_children_of")
def children_of_the_buried_are_kept(_: Handler) -> Handler:
    """A parent goes on waiting for children that are buried."""
    return lambda self, gone: None


@MUTANTS.enter("R38", Members, "on_excluded")
def the_fence_is_ignored(_: Handler) -> Handler:
    """A worker that is told that it is excluded goes on."""
    return lambda self, source, message, content=None: None


@MUTANTS.enter("R43", User, "on_peer_died")
def records_of_a_lost_owner_stay(_: Handler) -> Handler:
    """A user goes on waiting for an owner that is excluded."""
    return lambda self, peer, error: []


@MUTANTS.enter("R39", Members, "confirmed")
def heirs_that_are_counted_are_not_noticed(_: Handler) -> Handler:
    """A worker that had heirs never settles."""
    return lambda self, fork: None


@MUTANTS.enter("A29", Contexts, "on_death")
def passes_outlive_the_lost(_: Handler) -> Handler:
    """Contexts and releases go on waiting for a worker that is excluded."""
    return lambda self, peer: None
