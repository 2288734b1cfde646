"""What there is besides forks and RRefs: workers, views, and what each worker has done about each view.

The state is that of the proof of RRefs (`rref/state.py`) with four more relations. Workers are there now: a fork has a holder
and a minter, an RRef an owner and a creator. A view is a number with a set of excluded workers. All that is asked of the
authority that issues views is that nobody who is excluded in one is a member of a later one. So views and exclusions are not
part of the state: they are fixed, and a step of a worker is to learn of one.

An excluded worker is in no other state than any other. It need not have died, and goes on taking any step it likes. So nothing
here depends on a suspicion being right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.properties.proof.logic.formulas import Applied, Formula, Related, Sort, Term, every, iff, implies, same
from farref.properties.proof.logic.relations import Named, Relation, relation
from farref.properties.proof.rref import state as rref
from farref.properties.proof.rref.state import FORK, RREF, for_owner, rref_of

WORKER: Final = Sort("Worker", "w")
VIEW: Final = Sort("View", "v")


def owner(rref: Term) -> Term:
    """Name the worker that owns an RRef."""
    return Applied("owner", (rref,), WORKER)


def creator(rref: Term) -> Term:
    """Name the worker that creates an RRef with `remote()`, if another one than the owner does."""
    return Applied("creator", (rref,), WORKER)


def holder(fork: Term) -> Term:
    """Name the worker that a fork is meant for (R2)."""
    return Applied("holder", (fork,), WORKER)


def minter(fork: Term) -> Term:
    """Name the worker that made a fork; the ForkId says so (R2)."""
    return Applied("minter", (fork,), WORKER)


def owner_of(fork: Term) -> Term:
    """Name the worker that owns the RRef of a fork."""
    return owner(rref_of(fork))


def excluded_in(view: Term, worker: Term) -> Formula:
    """Say that a worker is excluded in a view (R35)."""
    return Related("excluded_in", (view, worker))


def not_after(one: Term, other: Term) -> Formula:
    """Say that a view is another one, or comes before it (R35)."""
    return Related("not_after", (one, other))


@dataclass(frozen=True)
class State(rref.State):
    """Everything that can be true of RRefs, and what workers know of views."""

    installed: Relation = relation("has installed {} or a later view", WORKER, VIEW)
    shuns: Relation = relation("takes nothing from {} any more", WORKER, WORKER)
    settled: Relation = relation("has settled {}", WORKER, VIEW)
    buried: Relation = relation("is buried", WORKER)

    def comes(self, fork: Term) -> Formula:
        """Say that a fork is on its way to somebody who will take it."""
        return self.travels(fork) & ~self.shuns(holder(fork), minter(fork))

    def out(self, fork: Term) -> Formula:
        """Say that the holder of a fork is buried."""
        return self.buried(holder(fork))

    def shut(self, fork: Term) -> Formula:
        """Say that the owner takes nothing from the holder of a fork any more."""
        return self.shuns(owner_of(fork), holder(fork))


FUNCTIONS: Final = {
    "rref_of": ((FORK,), RREF),
    "owner": ((RREF,), WORKER),
    "creator": ((RREF,), WORKER),
    "holder": ((FORK,), WORKER),
    "minter": ((FORK,), WORKER),
}
CONSTANT: Final = (
    Named("excluded_in", "excludes {}", (VIEW, WORKER)),
    Named("not_after", "is not after {}", (VIEW, VIEW)),
    Named("for_owner", "is meant for the owner itself", (FORK,)),
    Named("stays", "what arrives is a copy", ()),
    Named("as_call", "it is shared as an argument", ()),
)


def _exclusions_last(view: Term) -> Formula:
    def later(other: Term) -> Formula:
        return every(WORKER, lambda d: implies(not_after(view, other) & excluded_in(view, d), excluded_in(other, d)))

    return every(VIEW, later)


AXIOMS: Final = (
    every(VIEW, lambda v: not_after(v, v)),
    every(VIEW, _exclusions_last),
    every(FORK, lambda f: iff(for_owner(f), same(holder(f), owner_of(f)))),
    every(VIEW, lambda v: every(RREF, lambda r: ~excluded_in(v, owner(r)))),
)
"""Whoever is excluded stays so. And of the RRefs that are spoken of no owner is excluded: its values would be lost (R43)."""
