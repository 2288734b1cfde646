"""The invariant: 25 clauses that hold at the start and that every step keeps. Together they are the argument of R33.

The heart of it are J17 (a parent stays while it lists a child), J20 (confirmed means counted) and J23 (nothing is left of a
fork once its entry is gone). The others say what the messages under way can be, so that these three survive every step.
"""

from __future__ import annotations

from typing import Final

from farref.properties.proof.induction.theory import clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    all_of,
    any_of,
    at_most_one,
    different,
    iff,
    implies,
    none_of,
    same,
    some,
)
from farref.properties.proof.logic.relations import Named
from farref.properties.proof.rref.state import CONTROL, FORK, RREF, State, for_owner, rref_of

# -- shapes ------------------------------------------------------------------------------------------------------------

OF_A_FORK: Final[tuple[Named, ...]] = tuple(
    one for one in State.vocabulary() if one.sorts == (FORK,) and one.name != "minted"
)


@clause("J1", "R2", FORK)
def unminted(s: State, f: Term) -> Formula:
    """Nothing is true of a fork that was not minted."""
    return implies(~s.minted(f), none_of(*(one.of(s)(f) for one in OF_A_FORK)))


@clause("J2", "R2", FORK, FORK)
def parents(s: State, f: Term, g: Term) -> Formula:
    """A fork and its parent are two forks of one RRef, and the parent is not on the owner."""
    return implies(
        s.parent(f, g),
        all_of(different(f, g), s.minted(f), s.minted(g), s.has_parent(f), same(rref_of(f), rref_of(g)), ~for_owner(g)),
    )


@clause("J3", "R2", FORK, FORK, FORK)
def one_parent(s: State, f: Term, g: Term, h: Term) -> Formula:
    """A fork has at most one parent."""
    return implies(s.parent(f, g) & s.parent(f, h), same(g, h))


@clause("J4", "R2", FORK)
def origins(s: State, f: Term) -> Formula:
    """A fork is the creator's, a child, or the owner's; only a child is listed by a parent."""
    return all_of(
        ~(s.has_parent(f) & s.remote(f)),
        implies(s.remote(f), ~for_owner(f) & s.by_remote(rref_of(f))),
        implies(s.kept(f), s.has_parent(f)),
        implies(s.minted(f), s.begun(rref_of(f))),
    )


@clause("J5", "R10", FORK, FORK)
def one_creator(s: State, f: Term, g: Term) -> Formula:
    """An RRef has at most one creator's fork."""
    return implies(all_of(s.remote(f), s.remote(g), same(rref_of(f), rref_of(g))), same(f, g))


@clause("J6", "R8", RREF)
def phases(s: State, r: Term) -> Formula:
    """An entry is in one phase, and only a remote creation can still be on its way."""
    return all_of(
        at_most_one(s.expected(r), s.created(r), s.ready(r), s.gone(r)),
        implies(any_of(s.by_remote(r), s.listed(r), s.gone(r)), s.begun(r)),
        implies(s.begun(r) & ~s.by_remote(r), s.arrived(r)),
    )


@clause("J7", "R22", RREF)
def uses(s: State, r: Term) -> Formula:
    """The function runs while the entry is created; whoever holds it or waits finds it listed."""
    return all_of(
        iff(s.running(r), s.created(r)),
        implies(s.owner_holds(r), s.listed(r)),
        implies(s.owner_waits(r), s.owner_holds(r) & ~s.ready(r)),
    )


@clause("J8", "R9", FORK)
def users(s: State, f: Term) -> Formula:
    """A user is in one phase and has one handle and one fetch; whoever has either lives."""
    return all_of(
        ~(s.pending(f) & s.confirmed(f)),
        at_most_one(s.parked(f), s.held(f), s.timed_out(f)),
        ~(s.asking(f) & s.given_up(f)),
        implies(s.handle(f) | s.fetches(f), s.live(f)),
        implies(s.live(f), ~for_owner(f)),
        implies(s.parked(f), s.pending(f) & s.has_parent(f)),
    )


# -- a fork on its way -------------------------------------------------------------------------------------------------


@clause("J9", "R14", FORK)
def travelling(s: State, f: Term) -> Formula:
    """About a fork on its way nothing was sent; the owner counts it, or its parent lists it."""
    return implies(
        s.travels(f) | s.call_failed(f),
        all_of(
            at_most_one(s.call(f), s.result(f), s.call_failed(f)),
            ~s.remote(f),
            ~s.live(f),
            s.silent(f),
            iff(s.counted(f), ~s.has_parent(f)),
            iff(s.kept(f), s.has_parent(f)),
        ),
    )


# -- the creator's fork ------------------------------------------------------------------------------------------------


@clause("J10", "R10", FORK)
def creation(s: State, f: Term) -> Formula:
    """Of the messages that settle a creation one is under way, and the creator is pending."""
    news = (s.remote_call(f), s.remote_failed(f), s.user_accept(f), s.create_failed.unanswered(f))
    return implies(any_of(*news), all_of(s.remote(f), s.pending(f), at_most_one(*news)))


@clause("J11", "R21", FORK)
def uncreated(s: State, f: Term) -> Formula:
    """Before a creation arrives its fork is not counted, and the entry is at most expected."""
    return implies(s.uncreated(f), ~s.counted(f) & ~s.arrived(rref_of(f)))


@clause("J12", "R29", FORK)
def not_failed(s: State, f: Term) -> Formula:
    """A creation is not reported as failed while its call is still under way."""
    failed = s.create_failed
    error = any_of(failed.flying(f), failed.processed(f), failed.answering(f))
    return implies(any_of(s.remote_call(f), s.remote_failed(f), s.user_accept(f)), ~error)


@clause("J13", "R10", FORK)
def creator(s: State, f: Term) -> Formula:
    """A pending creator has a message under way that settles it, and is counted once told."""
    news = any_of(s.remote_call(f), s.remote_failed(f), s.user_accept(f), s.create_failed.unanswered(f))
    told = s.user_accept(f) | (s.pending(f) & s.create_failed.processed(f))
    return implies(s.remote(f) & s.pending(f), news) & implies(told, s.counted(f))


@clause("J14", "R21", FORK)
def to_arrive(s: State, f: Term) -> Formula:
    """A remote creation that has not arrived is still under way."""
    return implies(s.remote(f) & ~s.arrived(rref_of(f)), s.uncreated(f))


# -- a child -----------------------------------------------------------------------------------------------------------


@clause("J15", "R16", FORK)
def child(s: State, f: Term) -> Formula:
    """A pending child has asked to be counted, and its parent lists it until then."""
    request, accept = s.fork_request, s.child_accept
    unaccepted = none_of(accept.unanswered(f), accept.flying(f), accept.processed(f))
    asked = all_of(request.unanswered(f), s.kept(f), unaccepted, iff(s.counted(f), request.processed(f)))
    return all_of(
        implies(s.has_parent(f) & s.pending(f), asked),
        implies(request.unanswered(f), s.has_parent(f) & s.pending(f)),
        implies(all_of(s.live(f), ~s.has_parent(f), ~s.remote(f)), s.confirmed(f)),
        implies(s.confirmed(f) & s.has_parent(f), request.processed(f)),
    )


@clause("J16", "R17", FORK)
def accepting(s: State, f: Term) -> Formula:
    """A child accepts once it is counted; its parent lists it until the accept arrives."""
    accept = s.child_accept
    arrived = all_of(s.has_parent(f), ~s.travels(f), ~s.call_failed(f), ~s.pending(f))
    return all_of(
        implies(accept.unanswered(f), arrived),
        implies(accept.is_due(f), s.kept(f)),
        implies(accept.processed(f), ~s.kept(f)),
        implies(s.kept(f), any_of(s.travels(f), s.call_failed(f), s.pending(f), accept.is_due(f))),
    )


@clause("J17", "R24, G2", FORK, FORK)
def pinned(s: State, f: Term, g: Term) -> Formula:
    """A parent lives while it lists a child."""
    return implies(s.parent(f, g) & s.kept(f), s.live(g))


@clause("J18", "R5", FORK)
def senders(s: State, f: Term) -> Formula:
    """Only a child asks or accepts, and only a creator reports a failed creation."""
    request, accept = s.fork_request.concerns(f), s.child_accept.concerns(f)
    return all_of(
        implies(request | accept, s.has_parent(f)),
        implies(request, ~for_owner(f)),
        implies(s.create_failed.concerns(f), s.remote(f)),
    )


# -- control messages --------------------------------------------------------------------------------------------------


@clause("J19", "R7", FORK)
def once(s: State, f: Term) -> Formula:
    """What flies and has had no effect is unanswered; what is answered has had its effect."""
    kinds = [s.control(kind) for kind in CONTROL]
    due = (implies(one.flying(f) & ~one.processed(f), one.unanswered(f)) for one in kinds)
    answers = (implies(one.answering(f), one.processed(f)) for one in kinds)
    return all_of(*due, *answers)


# -- counts ------------------------------------------------------------------------------------------------------------


@clause("J20", "R31, P8", FORK)
def confirmed(s: State, f: Term) -> Formula:
    """A confirmed user is counted."""
    return implies(s.confirmed(f), s.counted(f))


@clause("J21", "R26, G1", FORK)
def deleted(s: State, f: Term) -> Formula:
    """A deleted user has left nothing; what is counted lives, travels, or is being deleted."""
    delete = s.user_delete
    nothing = none_of(
        s.live(f), s.travels(f), s.call_failed(f), s.fork_request.unanswered(f), s.create_failed.unanswered(f)
    )
    return all_of(
        implies(delete.concerns(f), nothing & implies(s.has_parent(f), s.fork_request.processed(f))),
        implies(delete.is_due(f), s.counted(f)),
        implies(delete.processed(f), ~s.counted(f)),
        implies(s.counted(f), any_of(s.live(f), s.travels(f), s.call_failed(f), delete.is_due(f))),
    )


@clause("J22", "R20, P11", FORK)
def fetches(s: State, f: Term) -> Formula:
    """A fetch is in one place: on its way, parked until there is a value, or on its way back."""
    stages = (s.fetch_call(f), s.fetch_parked(f), s.fetch_return(f), s.fetch_failed(f))
    return all_of(
        at_most_one(*stages),
        iff(s.fetches(f), any_of(*stages)),
        implies(s.fetch_parked(f), ~s.ready(rref_of(f))),
        implies(s.fetch_return(f), s.ready(rref_of(f))),
    )


@clause("J23", "R33, P1", FORK)
def gone(s: State, f: Term) -> Formula:
    """Once an entry is gone, none of its forks lives, travels or is counted."""
    return implies(s.gone(rref_of(f)), none_of(s.live(f), s.travels(f), s.call_failed(f), s.counted(f)))


@clause("J24", "R21, P2", RREF)
def history(s: State, r: Term) -> Formula:
    """No entry was dropped under a waiter, and none was made twice."""
    return none_of(s.orphaned(r), s.duplicated(r))


# -- the tree ----------------------------------------------------------------------------------------------------------


@clause("J25", "R2", FORK)
def ancestry(s: State, f: Term) -> Formula:
    """A fork that a user made has a parent."""
    return implies(s.has_parent(f), some(FORK, lambda g: s.parent(f, g)))


# -- the list ----------------------------------------------------------------------------------------------------------

INVARIANT: Final = (
    unminted, parents, one_parent, origins, one_creator, phases, uses, users, travelling,
    creation, uncreated, not_failed, creator, to_arrive, child, accepting, pinned, senders,
    once, confirmed, deleted, fetches, gone, history, ancestry,
)  # fmt: skip
