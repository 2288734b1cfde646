"""The invariant: that of RRefs with members in it, Y1 to Y25, and what views add, V1 to V8.

A clause Y is the clause J of the same number in `rref/invariant.py`. Some are the very same. The others speak of holders that
are not buried: whoever is buried is nobody's concern any more, and what the owner thinks of its forks need not be true.

The heart of it are V2 (who has settled a view has nothing uncounted from those excluded in it), V3 (the buried are cut off from
everybody else) and V4 (nobody has anything uncounted from the buried). With them the argument of R33 goes through: the first
fork that is astray has a parent, whose holder is not buried (V4); so its parent is listed (Y17), lives, and is counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from farref.properties.proof.induction.theory import Clause, clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    all_of,
    any_of,
    at_most_one,
    iff,
    implies,
    none_of,
    same,
)
from farref.properties.proof.rref import invariant as rref
from farref.properties.proof.rref.state import FORK, RREF, rref_of
from farref.properties.proof.views.state import (
    VIEW,
    WORKER,
    State,
    creator,
    excluded_in,
    holder,
    minter,
    owner,
)


def _as_before(one: Clause[State]) -> Clause[State]:
    """Take a clause of RRefs as it is, under the name it has here."""
    return replace(one, id=f"Y{one.id[1:]}", serves=one.serves.split(", ")[0])


# -- views -------------------------------------------------------------------------------------------------------------


@clause("V1", "R37", WORKER, VIEW, WORKER)
def installing(s: State, w: Term, v: Term, d: Term) -> Formula:
    """Who has installed a view takes nothing from those excluded in it."""
    return implies(s.installed(w, v) & excluded_in(v, d), s.shuns(w, d))


@clause("V2", "R39", FORK, VIEW)
def calm(s: State, f: Term, v: Term) -> Formula:
    """Who has settled a view holds no pending fork that was made by somebody excluded in it."""
    return implies(all_of(s.settled(holder(f), v), s.has_parent(f), s.pending(f)), ~excluded_in(v, minter(f)))


@clause("V3", "R40", WORKER, WORKER)
def cut_off(s: State, w: Term, d: Term) -> Formula:
    """Whoever is buried is excluded by everybody who is not."""
    return implies(s.buried(d) & ~s.buried(w), s.shuns(w, d))


@clause("V4", "R40", FORK)
def no_heirs(s: State, f: Term) -> Formula:
    """A pending fork that was made by somebody buried is held by somebody buried."""
    return implies(all_of(s.has_parent(f), s.pending(f), s.buried(minter(f))), s.out(f))


@clause("V5", "R39", WORKER, VIEW)
def settling(s: State, w: Term, v: Term) -> Formula:
    """Who has settled a view has installed it, or a later one."""
    return implies(s.settled(w, v), s.installed(w, v))


@clause("V6", "R43", RREF)
def owners(s: State, r: Term) -> Formula:
    """No owner of what is spoken of is buried."""
    return ~s.buried(owner(r))


@clause("V7", "R43", WORKER, RREF)
def owners_are_heard(s: State, w: Term, r: Term) -> Formula:
    """No owner of what is spoken of is excluded by anybody."""
    return ~s.shuns(w, owner(r))


@clause("V8", "R37", WORKER)
def oneself(s: State, w: Term) -> Formula:
    """Nobody excludes itself: whoever is excluded in a view does not install it."""
    return ~s.shuns(w, w)


# -- what changes where members come and go ----------------------------------------------------------------------------


@clause("Y2", "R2", FORK, FORK)
def parents(s: State, f: Term, g: Term) -> Formula:
    """A fork is made by the holder of its parent, of the same RRef, and not on the owner."""
    return implies(s.parent(f, g), same(minter(f), holder(g))) & rref.parents.body(s, f, g)


@clause("Y4", "R2", FORK)
def origins(s: State, f: Term) -> Formula:
    """A fork is the creator's and held there, a child, or made by the owner; only a child is listed by a parent."""
    return all_of(
        rref.origins.body(s, f),
        implies(s.remote(f), same(holder(f), creator(rref_of(f)))),
        implies(all_of(s.minted(f), ~s.has_parent(f), ~s.remote(f)), same(minter(f), owner(rref_of(f)))),
    )


@clause("Y9", "R14", FORK)
def travelling(s: State, f: Term) -> Formula:
    """About a fork on its way nothing was sent; unless its holder is buried, the owner counts it or its parent lists it."""
    known = iff(s.counted(f), ~s.has_parent(f)) & iff(s.kept(f), s.has_parent(f))
    return implies(
        s.travels(f) | s.call_failed(f),
        all_of(
            at_most_one(s.call(f), s.result(f), s.call_failed(f)),
            ~s.remote(f),
            ~s.live(f),
            s.silent(f),
            implies(s.has_parent(f), ~s.counted(f)),
            s.out(f) | known,
        ),
    )


@clause("Y11", "R21", FORK)
def uncreated(s: State, f: Term) -> Formula:
    """Before a creation arrives its fork is not counted, and the entry is at most expected, unless its creator is excluded."""
    return implies(s.uncreated(f) & ~s.shut(f), ~s.counted(f) & ~s.arrived(rref_of(f)))


@clause("Y13", "R10", FORK)
def creators(s: State, f: Term) -> Formula:
    """Once a creation has arrived, its creator is counted as long as it lives, unless it is buried."""
    told = s.user_accept(f) | (s.pending(f) & s.create_failed.processed(f))
    arrived = s.arrived(rref_of(f))
    return implies(all_of(s.remote(f), s.live(f), arrived), s.counted(f) | s.out(f)) & implies(told, arrived)


@clause("Y14", "R37", FORK)
def to_arrive(s: State, f: Term) -> Formula:
    """A remote creation that has not arrived is still under way, and its owner hears its creator."""
    return implies(s.remote(f) & ~s.arrived(rref_of(f)), s.uncreated(f) & ~s.shut(f))


@clause("Y15", "R16", FORK)
def child(s: State, f: Term) -> Formula:
    """A pending child has asked to be counted; unless its holder is buried, its parent lists it until then."""
    request, accept = s.fork_request, s.child_accept
    unaccepted = none_of(accept.unanswered(f), accept.flying(f), accept.processed(f))
    listed = s.kept(f) & iff(s.counted(f), request.processed(f))
    asked = all_of(request.unanswered(f), unaccepted, implies(s.counted(f), request.processed(f)), s.out(f) | listed)
    return all_of(
        implies(s.has_parent(f) & s.pending(f), asked),
        implies(request.unanswered(f), s.has_parent(f) & s.pending(f)),
        implies(all_of(s.live(f), ~s.has_parent(f), ~s.remote(f)), s.confirmed(f)),
        implies(s.confirmed(f) & s.has_parent(f), request.processed(f)),
    )


@clause("Y16", "R17", FORK)
def accepting(s: State, f: Term) -> Formula:
    """A child accepts once it has arrived and is not pending; a parent that was told lists it no more."""
    accept = s.child_accept
    arrived = all_of(s.has_parent(f), ~s.travels(f), ~s.call_failed(f), ~s.pending(f))
    return implies(accept.unanswered(f), arrived) & implies(accept.processed(f), ~s.kept(f))


@clause("Y20", "R31", FORK)
def confirmed(s: State, f: Term) -> Formula:
    """A confirmed user is counted, unless its holder is buried."""
    return implies(s.confirmed(f), s.counted(f) | s.out(f))


@clause("Y21", "R26", FORK)
def deleted(s: State, f: Term) -> Formula:
    """A deleted user has left nothing; what is counted lives, travels, or is being deleted."""
    delete = s.user_delete
    nothing = none_of(
        s.live(f), s.travels(f), s.call_failed(f), s.fork_request.unanswered(f), s.create_failed.unanswered(f)
    )
    return all_of(
        implies(delete.concerns(f), nothing & implies(s.has_parent(f), s.fork_request.processed(f))),
        implies(delete.processed(f), ~s.counted(f)),
        implies(s.counted(f), any_of(s.live(f), s.travels(f), s.call_failed(f), delete.is_due(f))),
    )


@clause("Y22", "R20", FORK)
def fetches(s: State, f: Term) -> Formula:
    """A fetch is in one place at most; one that is parked waits for a value, and the owner hears whoever asked."""
    stages = (s.fetch_call(f), s.fetch_parked(f), s.fetch_return(f), s.fetch_failed(f))
    return all_of(
        at_most_one(*stages),
        implies(any_of(*stages), s.fetches(f)),
        implies(s.fetch_parked(f), ~s.ready(rref_of(f)) & ~s.shut(f)),
    )


@clause("Y23", "R46", FORK)
def gone(s: State, f: Term) -> Formula:
    """Once an entry is gone, none of its forks is counted, and none lives or comes, but those of the buried."""
    return implies(s.gone(rref_of(f)), ~s.counted(f) & (s.out(f) | none_of(s.live(f), s.comes(f))))


# -- the list ----------------------------------------------------------------------------------------------------------

CHANGED: Final = {
    one.id: one
    for one in (
        parents, origins, travelling, uncreated, creators, to_arrive, child, accepting, confirmed, deleted, fetches, gone,
    )
}  # fmt: skip

INVARIANT: Final = (
    *(CHANGED.get(f"Y{one.id[1:]}", _as_before(one)) for one in rref.INVARIANT),
    *(installing, calm, cut_off, no_heirs, settling, owners, owners_are_heard, oneself),
)
