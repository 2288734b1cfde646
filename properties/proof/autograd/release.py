"""How a context is forgotten: its creator asks everybody, waits until no call of it is under way, and only then lets them
forget.

One context, any number of workers and calls. A call carries the context to another worker and opens it there. A worker that
closes tells the creator which calls it sent and which it got (`Closed`). Whatever becomes of a call that was under way then
is settled with the creator. When every worker that was named has closed and every call is accounted for, nothing of the
context can be under way any more, and everybody may forget it (A24, A25).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from farref.properties.proof.autograd.passes import WORKER
from farref.properties.proof.autograd.rules import Rules
from farref.properties.proof.induction.theory import Case
from farref.properties.proof.logic.formulas import (
    Applied,
    Formula,
    Sort,
    Term,
    Variable,
    all_of,
    any_of,
    different,
    every,
    implies,
    same,
    some,
)
from farref.properties.proof.logic.relations import Relation, Relations, relation

CALL: Final = Sort("Call", "c")


def source(call: Term) -> Term:
    """Name the worker that sends a call."""
    return Applied("source", (call,), WORKER)


def target(call: Term) -> Term:
    """Name the worker that a call is for."""
    return Applied("target", (call,), WORKER)


def creator() -> Term:
    """Name the worker that created the context, and releases it."""
    return Applied("creator", (), WORKER)


@dataclass(frozen=True)
class State(Relations):
    """Calls, what each worker has of the context, and what the creator knows."""

    # A call of the context
    sent: Relation = relation("was sent", CALL)
    flying: Relation = relation("is under way", CALL)
    arrived: Relation = relation("arrived in time", CALL)
    failed: Relation = relation("failed in time", CALL)
    settling: Relation = relation("has its Settled under way", CALL)

    # What the creator knows of it
    owed: Relation = relation("is known to have been sent", CALL)
    accounted: Relation = relation("is accounted for", CALL)

    # The context on a worker
    open: Relation = relation("has the context open", WORKER)
    closed: Relation = relation("has closed the context", WORKER)
    forgotten: Relation = relation("has forgotten the context", WORKER)

    # What the creator asked of a worker, and what is under way between them
    asked: Relation = relation("was asked to close", WORKER)
    cleaning: Relation = relation("has a CleanupContext under way", WORKER)
    reporting: Relation = relation("has its Closed under way", WORKER)
    entered: Relation = relation("is known to have closed", WORKER)
    forgetting: Relation = relation("has a Forget under way", WORKER)
    done: Relation = relation("all is accounted for")

    # History, for S10 to speak of
    resurrected: Relation = relation("has a context again that it had forgotten", WORKER)


C, W = Variable("c", CALL), Variable("w", WORKER)
Step = Case[State]


# -- steps -------------------------------------------------------------------------------------------------------------


def call(s: State, rules: Rules) -> Iterator[Step]:
    """A worker with the context open sends a call, and the call arrives, too late or in time, or fails (A4, A24)."""
    yield Step("a call is sent", s.open(source(C)) & ~s.sent(C), s.at(C, sent=True, flying=True))
    landed, there = s.at(C, flying=False), target(C)
    again = s.resurrected(there) | s.forgotten(there)
    opened = landed.at(C, arrived=True).at(there, open=True, forgotten=False, resurrected=again)
    yield Step("a call arrives", s.flying(C) & ~s.closed(there), opened)
    late = s.flying(C) & s.closed(there)
    yield Step("a call arrives at a closed context", late & different(there, creator()), landed.at(C, settling=True))
    yield Step("a call arrives at the creator, closed", late & same(there, creator()), landed.at(C, accounted=True))


def fail(s: State, rules: Rules) -> Iterator[Step]:
    """A call fails, and its sender is told (A5)."""
    landed, here = s.at(C, flying=False), source(C)
    yield Step("a call fails", s.flying(C) & ~s.closed(here), landed.at(C, failed=True))
    yield Step("a call fails, its sender closed", s.flying(C) & s.closed(here), landed.at(C, settling=True))


def release(s: State, rules: Rules) -> Iterator[Step]:
    """The creator closes its own context, and asks whomever it sent calls to (A24)."""
    yield Step("Release", s.open(creator()), known_closed(s.at(creator(), open=False, closed=True), creator()))


def close(s: State, rules: Rules) -> Iterator[Step]:
    """A worker is asked, closes, and reports; the creator learns of its calls and asks their targets (A24, A25)."""
    yield Step("CleanupContext", s.cleaning(W), s.at(W, cleaning=False, open=False, closed=True, reporting=True))
    yield Step("Closed", s.reporting(W), known_closed(s.at(W, reporting=False), W))
    yield Step("Settled", s.settling(C), s.at(C, settling=False, accounted=True))


def known_closed(s: State, who: Term) -> State:
    """Let the creator enter what a worker that closed has sent and got."""

    def asks(w: Term) -> Formula:
        named = some(CALL, lambda c: all_of(s.sent(c), same(source(c), who), same(target(c), w)))
        return all_of(different(w, creator()), named, ~s.asked(w))

    def accounted(c: Term) -> Formula:
        return any_of(s.accounted(c), s.arrived(c) & same(target(c), who), s.failed(c) & same(source(c), who))

    return s.but(
        entered=lambda w: s.entered(w) | same(w, who),
        owed=lambda c: s.owed(c) | (s.sent(c) & same(source(c), who)),
        accounted=accounted,
        asked=lambda w: s.asked(w) | asks(w),
        cleaning=lambda w: s.cleaning(w) | asks(w),
    )


def forget(s: State, rules: Rules) -> Iterator[Step]:
    """When all is accounted for, the creator forgets, and lets the others forget (A25)."""
    everybody = s.entered(creator()) & every(WORKER, lambda w: implies(s.asked(w), s.entered(w)))
    everything = every(CALL, lambda c: implies(s.owed(c), s.accounted(c)))
    drained = everybody & everything if rules["forgets_when_drained"] else s.entered(creator())
    after = s.at(creator(), closed=False, forgotten=True).at(done=True).but(forgetting=s.asked)
    yield Step("Drained", drained & ~s.done(), after, (first_unknown(s),))
    yield Step("Forget", s.forgetting(W), s.at(W, forgetting=False, closed=False, forgotten=True))


def first_unknown(s: State) -> Formula:
    """A finite set that is not empty has a first element: here, of the calls whose sender is not known to have closed.

    The first one was sent by the creator, or by a worker that an earlier call had reached. That a call had reached it is clause
    Q4; that it came earlier is what this adds.
    """

    def is_open(c: Term) -> Formula:
        return s.sent(c) & ~s.entered(source(c))

    def is_first(c: Variable) -> Formula:
        reached = some(CALL, lambda d: all_of(s.arrived(d), same(target(d), source(c)), ~is_open(d)))
        return is_open(c) & (same(source(c), creator()) | reached)

    return implies(some(CALL, is_open), some(CALL, is_first))


def steps(s: State, rules: Rules) -> Iterator[Step]:
    """List everything that can happen."""
    for step in (call, fail, release, close, forget):
        yield from step(s, rules)
