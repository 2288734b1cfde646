"""Why a forgotten context never comes back: the invariant of `release.py`, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.proof.autograd.passes import WORKER
from farref.properties.proof.autograd.release import CALL, C, State, W, creator, source, steps, target
from farref.properties.proof.induction.theory import Situation, Theorem, Theory, clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    all_of,
    any_of,
    at_most_one,
    different,
    every,
    iff,
    implies,
    none_of,
    same,
    some,
)
from farref.properties.proof.logic.relations import empty

# -- the invariant -----------------------------------------------------------------------------------------------------


@clause("Q1", "A24", WORKER)
def phases(s: State, w: Term) -> Formula:
    """A context is open, closed or forgotten."""
    return at_most_one(s.open(w), s.closed(w), s.forgotten(w))


@clause("Q2", "A5", CALL)
def calls(s: State, c: Term) -> Formula:
    """Only what was sent is anywhere, and what is under way has not ended."""
    ends = (s.arrived(c), s.failed(c), s.settling(c), s.accounted(c))
    return implies(any_of(s.flying(c), s.owed(c), *ends), s.sent(c)) & implies(s.flying(c), none_of(*ends))


@clause("Q3", "A4", WORKER)
def opened(s: State, w: Term) -> Formula:
    """A context is open on its creator, or where a call of it has arrived."""
    arrived = some(CALL, lambda c: s.arrived(c) & same(target(c), w))
    return implies(s.open(w) & different(w, creator()), arrived)


@clause("Q4", "A4", CALL)
def senders(s: State, c: Term) -> Formula:
    """A call was sent by the creator, or by a worker that a call had reached."""
    reached = some(CALL, lambda d: s.arrived(d) & same(target(d), source(c)))
    return implies(s.sent(c), same(source(c), creator()) | reached)


@clause("Q5", "A24", WORKER)
def closing(s: State, w: Term) -> Formula:
    """A worker was asked, closes, reports, and is entered, in this order; it forgets only at the end."""
    unreported = s.reporting(w) & different(w, creator())
    return all_of(
        implies(s.entered(w), s.closed(w) | s.forgotten(w)),
        implies(s.reporting(w), s.closed(w) & ~s.cleaning(w)),
        implies(s.forgotten(w), s.done() & s.entered(w)),
        implies(s.closed(w) & ~s.entered(w), unreported),
        implies(s.closed(w), same(w, creator()) | s.asked(w)),
        implies(s.entered(w), none_of(s.reporting(w), s.cleaning(w))),
    )


@clause("Q6", "A25", CALL)
def accounts(s: State, c: Term) -> Formula:
    """Whatever a worker that is entered has sent is owed, and its target was asked."""
    return all_of(
        implies(s.entered(source(c)) & s.sent(c), s.owed(c)),
        implies(s.owed(c), same(target(c), creator()) | s.asked(target(c))),
    )


@clause("Q7", "A24", WORKER)
def asked(s: State, w: Term) -> Formula:
    """A worker that was asked has the request under way, or has closed."""
    heard = any_of(s.cleaning(w), s.closed(w), s.forgotten(w))
    return implies(s.asked(w), different(w, creator()) & heard) & implies(s.cleaning(w) | s.forgetting(w), s.asked(w))


@clause("Q8", "A25", CALL, WORKER)
def drained(s: State, c: Term, w: Term) -> Formula:
    """Once all is accounted for, no call is under way, no context is open, and everybody asked is entered."""
    everybody = implies(s.asked(w) | same(w, creator()), s.entered(w))
    still = none_of(s.flying(c), s.settling(c), s.open(w))
    return implies(s.done(), all_of(still, everybody, s.forgotten(creator())))


@clause("Q9", "A25", WORKER)
def forgetting(s: State, w: Term) -> Formula:
    """A worker is told to forget only once all is accounted for, and what it forgets is closed."""
    return implies(s.forgetting(w), s.done() & s.closed(w))


@clause("Q10", "A25, S10", WORKER)
def stays_forgotten(s: State, w: Term) -> Formula:
    """Nobody has a context again that it had forgotten."""
    return ~s.resurrected(w)


@clause("Q11", "A25", CALL)
def settling(s: State, c: Term) -> Formula:
    """What is being settled has not ended in time, and is not accounted for yet; and the creator has closed."""
    return implies(s.settling(c), none_of(s.accounted(c), s.arrived(c), s.failed(c), s.open(creator())))


@clause("Q12", "A24", WORKER)
def released(s: State, w: Term) -> Formula:
    """The creator has the context from the start, and asks nobody to close before it has closed itself."""
    has = any_of(s.open(creator()), s.closed(creator()), s.forgotten(creator()))
    return has & implies(s.asked(w), ~s.open(creator()))


@clause("S10", "A25", WORKER)
def a_forgotten_context_stays_forgotten(s: State, w: Term) -> Formula:
    """A worker that has forgotten a context never has it again."""
    return ~s.resurrected(w)


@clause("S10 calls", "A25", CALL)
def nothing_is_under_way_once_forgotten(s: State, c: Term) -> Formula:
    """Once anybody has forgotten the context, no call of it is under way."""
    return implies(s.forgotten(creator()), ~s.flying(c))


# -- the theorem -------------------------------------------------------------------------------------------------------


def initial(s: State) -> Formula:
    """Nothing has happened, except that the creator has the context open."""
    nothing = empty(s.but(open=lambda w: s.open(w) & different(w, creator())))
    return nothing & every(WORKER, lambda w: iff(s.open(w), same(w, creator())))


CONTEXT: Final = Theory(
    name="release",
    state=State.arbitrary(),
    initial=initial,
    steps=steps,
    functions={"source": ((CALL,), WORKER), "target": ((CALL,), WORKER), "creator": ((), WORKER)},
)


def situations(s: State) -> Iterator[Situation]:
    """List what the invariant must leave possible."""
    yield Situation("a call is under way to a worker that has closed", s.flying(C) & s.closed(target(C)))
    yield Situation("all is accounted for, somebody is still to forget", s.done() & s.forgetting(W))
    yield Situation("the creator has closed, others go on", s.closed(creator()) & s.open(W))


FORGET: Final = Theorem(
    id="release",
    text="A context is forgotten only when no call of it is under way, and so never comes back: S10.",
    theory=CONTEXT,
    invariant=(
        phases,
        calls,
        opened,
        senders,
        closing,
        accounts,
        asked,
        drained,
        forgetting,
        stays_forgotten,
        settling,
        released,
    ),
    goals=(a_forgotten_context_stays_forgotten, nothing_is_under_way_once_forgotten),
    situations=tuple(situations(CONTEXT.state)),
)
