"""What is done about views: installing, settling, burying, and letting go of what the buried held. One function for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from farref.properties.proof.logic.formulas import (
    FALSE,
    TRUE,
    Formula,
    Term,
    Variable,
    all_of,
    every,
    implies,
    same,
    some,
)
from farref.properties.proof.rref.effects import release, settle
from farref.properties.proof.rref.rules import SOUND
from farref.properties.proof.rref.state import FORK, rref_of
from farref.properties.proof.views.point import Point, Step
from farref.properties.proof.views.rules import Rules
from farref.properties.proof.views.state import (
    VIEW,
    WORKER,
    State,
    creator,
    excluded_in,
    holder,
    minter,
    not_after,
    owner,
    owner_of,
)


def install(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A worker installs a view, or several at once: it takes nothing more from those excluded (R37).

    It forgets their fetches. A creation that they can no longer send is an error from now on, and its creator counts as a user
    until it is buried: somebody else may have been given the RRef.
    """
    w, v = at.worker, at.view
    is_heeded = rules["fails_creation_of_the_excluded"]

    def lost(r: Term) -> Formula:
        return _never_arrives(s, r, w, v) if is_heeded else FALSE

    def is_dropped(f: Term) -> Formula:
        return same(owner_of(f), w) & excluded_in(v, holder(f))

    def is_answered(f: Term) -> Formula:
        return all_of(s.fetch_parked(f), lost(rref_of(f)), ~excluded_in(v, holder(f)))

    after = s.but(
        installed=lambda x, u: s.installed(x, u) | (same(x, w) & not_after(u, v)),
        shuns=lambda x, d: s.shuns(x, d) | (same(x, w) & excluded_in(v, d)),
        ready=lambda r: s.ready(r) | lost(r),
        expected=lambda r: s.expected(r) & ~lost(r),
        owner_waits=lambda r: s.owner_waits(r) & ~lost(r),
        counted=lambda f: s.counted(f) | (s.remote(f) & lost(rref_of(f))),
        fetch_parked=lambda f: all_of(s.fetch_parked(f), ~lost(rref_of(f)), ~is_dropped(f)),
        fetch_return=lambda f: s.fetch_return(f) | is_answered(f),
    )
    yield Step("Install", ~excluded_in(v, w), after)


def _never_arrives(s: State, r: Term, w: Variable, v: Variable) -> Formula:
    """Say that a worker owns an RRef whose creation has not arrived, and no longer can."""
    return all_of(same(owner(r), w), s.begun(r), s.by_remote(r), excluded_in(v, creator(r)), ~s.arrived(r))


def settle_view(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A worker says that whatever it has from those excluded in a view is counted by its owner (R39)."""

    def is_heir(f: Term) -> Formula:
        mine = all_of(same(holder(f), at.worker), s.has_parent(f), s.pending(f))
        return mine & excluded_in(at.view, minter(f))

    calm = ~some(FORK, is_heir) if rules["settles_what_came_from_the_excluded"] else TRUE
    yield Step("Settle", s.installed(at.worker, at.view) & calm, s.at(at.worker, at.view, settled=True))


def bury(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The authority buries those excluded in a view that all its members have settled (R40)."""
    v = at.view
    yield Step("Bury", _have_settled(s, v, rules), s.but(buried=lambda x: s.buried(x) | excluded_in(v, x)))


def _have_settled(s: State, v: Variable, rules: Rules) -> Formula:
    """Say that all members of a view have settled it; without a rule, that some have, or those that are left."""
    if not rules["waits_until_settled"]:
        return TRUE
    if not rules["everybody_settles"]:
        return some(WORKER, lambda x: ~excluded_in(v, x) & s.settled(x, v))
    if not rules["same_view"]:
        return every(WORKER, lambda x: s.settled(x, v) | some(VIEW, lambda u: excluded_in(u, x)))
    return every(WORKER, lambda x: excluded_in(v, x) | s.settled(x, v))


def reclaim(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """An owner stops counting a fork whose holder is buried, and drops what it may drop (R41)."""
    guard = all_of(s.out(at.fork), s.counted(at.fork), at.mine)
    for case in settle("Reclaim a fork", guard, s.at(at.fork, counted=False), at.rref, SOUND):
        yield in_views(case, at)


def forget_child(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A parent forgets a child whose holder is buried, and goes if it may (R42)."""
    may = s.out(at.fork) if rules["children_wait_too"] else s.shuns(holder(at.other), holder(at.fork))
    guard = all_of(may, s.parent(at.fork, at.other), s.kept(at.fork))
    for case in release("Forget a child", guard, s.at(at.fork, kept=False), at.other, SOUND):
        yield in_views(case, at)


def stop_telling(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A child stops telling a parent whose holder it has excluded (R37)."""
    is_lost = s.parent(at.fork, at.other) & s.shuns(holder(at.fork), holder(at.other))
    after = cast(State, s.with_control("child_accept", at.fork, unanswered=False, flying=False))
    yield Step("Stop telling", s.child_accept.unanswered(at.fork) & is_lost, after)


def in_views(case: object, at: Point) -> Step:
    """Take a step of the proof of RRefs as one of this proof: where an entry goes, another set has a first element."""
    found = cast(Step, case)
    return replace(found, finite=(first_uncounted(found.after, at.rref),) if found.finite else ())


def first_uncounted(s: State, rref: Variable) -> Formula:
    """A finite set that is not empty has a first element. This is the only use of it, as in the proof of RRefs.

    The set: forks that are not counted although they live or come, and whose holder is not buried. Dropping an entry does not
    change it, so it may be looked up after the step.
    """

    def astray(fork: Term) -> Formula:
        alive = s.live(fork) | s.comes(fork)
        return all_of(same(rref_of(fork), rref), ~s.out(fork), alive, ~s.counted(fork))

    def is_first(fork: Variable) -> Formula:
        return astray(fork) & every(FORK, lambda parent: implies(s.parent(fork, parent), ~astray(parent)))

    return implies(some(FORK, astray), some(FORK, is_first))
