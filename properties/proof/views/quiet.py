"""Quiet is clean, with members: where everybody excluded is buried and nothing is under way, nothing is left on any member.

This is the half of R46's third promise that speaks of one state. The other half is that a quiet state is reached, and it is
argued, not proved: each heir's owner answers or is excluded, views are finitely many, and the proof of RRefs has the rest.

Six more clauses are needed. U1 to U3 are K1 to K3 of the proof of RRefs. U4 to U6 say what J13, J16 and J22 say there, and what
is no longer true of those that somebody has excluded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from farref.properties.proof.induction.theory import Lemma, Theorem, clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    all_of,
    any_of,
    every,
    implies,
    none_of,
    some,
)
from farref.properties.proof.rref import liveness as rref
from farref.properties.proof.rref.state import CONTROL, FORK, RREF
from farref.properties.proof.views.invariant import INVARIANT
from farref.properties.proof.views.rules import Rules
from farref.properties.proof.views.safety import VIEWS
from farref.properties.proof.views.state import WORKER, State, holder, minter

S: Final = VIEWS.state

# -- what may go has gone ----------------------------------------------------------------------------------------------

no_user_stays_for_nothing = replace(rref.no_user_stays_for_nothing, id="U1")
no_entry_stays_for_nothing = replace(rref.no_entry_stays_for_nothing, id="U2")
a_remote_creation_has_a_creator = replace(rref.a_remote_creation_has_a_creator, id="U3")


@clause("U4", "R10", FORK)
def a_creator_is_told(s: State, f: Term) -> Formula:
    """A pending creator that the owner hears has a message under way that settles it."""
    news = any_of(s.remote_call(f), s.remote_failed(f), s.user_accept(f), s.create_failed.unanswered(f))
    return implies(all_of(s.remote(f), s.pending(f), ~s.shut(f)), news)


@clause("U5", "R42", FORK)
def a_listed_child_is_settled(s: State, f: Term) -> Formula:
    """A child that is listed travels, is pending or accepts, unless its holder has excluded the one who made it."""
    settles = any_of(s.travels(f), s.call_failed(f), s.pending(f), s.child_accept.is_due(f))
    return implies(s.kept(f), settles | s.shuns(holder(f), minter(f)))


@clause("U6", "R20", FORK)
def a_fetch_is_somewhere(s: State, f: Term) -> Formula:
    """A fetch of somebody whom the owner hears is on its way, parked, or on its way back."""
    stages = any_of(s.fetch_call(f), s.fetch_parked(f), s.fetch_return(f), s.fetch_failed(f))
    return implies(s.fetches(f) & ~s.shut(f), stages)


# -- quiet is clean ----------------------------------------------------------------------------------------------------


def quiet(s: State) -> Formula:
    """Say that all excluded are buried and what they held is let go, and that nothing is under way between the others."""

    def is_excluded(d: Term) -> Formula:
        return some(WORKER, lambda w: s.shuns(w, d))

    def is_busy(f: Term) -> Formula:
        calls = (getattr(s, name)(f) for name in rref.CALLS)
        controls = (said(f) for one in map(s.control, CONTROL) for said in (one.flying, one.unanswered, one.answering))
        return ~s.out(f) & any_of(*calls, *controls, (s.held(f) | s.timed_out(f)) & ~s.asking(f))

    def is_listed(f: Term) -> Formula:
        return some(FORK, lambda g: all_of(s.parent(f, g), s.kept(f), s.out(f), ~s.out(g)))

    return all_of(
        every(WORKER, lambda d: implies(is_excluded(d), s.buried(d))),
        ~some(FORK, lambda f: s.counted(f) & s.out(f)),
        ~some(FORK, is_listed),
        ~some(FORK, is_busy),
        ~some(RREF, lambda r: s.running(r) | (s.owner_holds(r) & ~s.owner_waits(r))),
    )


CLEAN: Final[dict[str, tuple[str, Callable[[State], Formula]]]] = {
    "P3 entry": (
        "No entry is left.",
        lambda s: every(RREF, lambda r: none_of(s.listed(r), s.running(r), s.owner_holds(r))),
    ),
    "P3 count": ("No count is left.", lambda s: every(FORK, lambda f: ~s.counted(f))),
    "P3 user": (
        "No user is left on anybody who is not buried, and no fetch and no parked call.",
        lambda s: every(FORK, lambda f: s.out(f) | none_of(s.live(f), s.fetches(f), s.parked(f), s.fetch_parked(f))),
    ),
}
"""What is claimed of every quiet state."""


def quiet_is_clean(rules: Rules) -> Iterator[Lemma]:
    """P3, P4 and P5, of a quiet state."""
    del rules
    for name, (text, clean) in CLEAN.items():
        yield Lemma(name, "a quiet state is clean", clean(S), (quiet(S),), text)


QUIET: Final = Theorem(
    id="quiet",
    text="Where everybody excluded is buried and nothing is under way, nothing is left of anything, on any member.",
    theory=VIEWS,
    invariant=(
        no_user_stays_for_nothing,
        no_entry_stays_for_nothing,
        a_remote_creation_has_a_creator,
        a_creator_is_told,
        a_listed_child_is_settled,
        a_fetch_is_somewhere,
    ),
    known=INVARIANT,
    lemmas=quiet_is_clean,
)
