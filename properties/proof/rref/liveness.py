"""Why everything is released in the end: what may go has gone, a measure shrinks, and something can always be done.

Three facts, each of them about states or single steps:

1. *Quiet is clean.* Where nothing is under way, no function runs and the application holds nothing, no entry, no user and no
count is left. It needs three more clauses, K1 to K3: whatever may go has gone. 2. *The measure.* Every step makes a number
smaller, except for what the application begins, and for losses, copies and retries, which leave it as it is. So only finitely
many steps follow after the application's last beginning, not counting those. 3. *Progress.* In a state that is not quiet, a
step can be taken that makes the measure smaller, or one that sends again what was lost.

So all that the application began comes to a quiet state, which is clean, if four things are fair: what is sent again and again
arrives (R3), an unanswered message is sent again and again (R6), functions end, and the application lets go of its handles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from farref.properties.proof.induction.theory import Lemma, Theorem, clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    Variable,
    all_of,
    any_of,
    at_most,
    different,
    every,
    implies,
    less,
    none_of,
    plus,
    same,
    some,
    worth,
)
from farref.properties.proof.rref.controls import NAMES
from farref.properties.proof.rref.invariant import INVARIANT
from farref.properties.proof.rref.point import POINT, Point, Step
from farref.properties.proof.rref.rest import resting
from farref.properties.proof.rref.rules import Rules
from farref.properties.proof.rref.safety import RREFS
from farref.properties.proof.rref.state import CONTROL, FORK, RREF, State, rref_of
from farref.properties.proof.rref.steps import steps

S: Final = RREFS.state

CALLS: Final = {
    "remote_call": "RemoteCall",
    "user_accept": "UserAccept",
    "remote_failed": "RemoteFailed",
    "call": "Call ",
    "result": "Return ",
    "call_failed": "CallFailed",
    "fetch_call": "FetchCall",
    "fetch_return": "FetchReturn",
    "fetch_failed": "FetchFailed",
}
"""The user calls, and the steps in which they arrive."""


# -- what may go has gone ----------------------------------------------------------------------------------------------


@clause("K1", "R26", FORK)
def no_user_stays_for_nothing(s: State, f: Term) -> Formula:
    """A confirmed user that has neither handle nor fetch has a child that has not accepted."""
    child = some(FORK, lambda h: s.parent(h, f) & s.kept(h))
    return implies(all_of(s.confirmed(f), ~s.handle(f), ~s.fetches(f)), child)


@clause("K2", "R22", RREF)
def no_entry_stays_for_nothing(s: State, r: Term) -> Formula:
    """An entry that is created and that no code on the owner uses has a fork that is counted."""
    fork = some(FORK, lambda f: same(rref_of(f), r) & s.counted(f))
    return implies(all_of(s.created(r) | s.ready(r), ~s.used(r)), fork)


@clause("K3", "R10", RREF)
def a_remote_creation_has_a_creator(s: State, r: Term) -> Formula:
    """An RRef that another worker creates has a creator's fork."""
    return implies(s.by_remote(r), some(FORK, lambda f: same(rref_of(f), r) & s.remote(f)))


# -- quiet is clean ----------------------------------------------------------------------------------------------------


def quiet(s: State) -> Formula:
    """Say that nothing is under way, that no function runs, and that the application has let go of what it can let go of."""

    def is_busy(f: Term) -> Formula:
        calls = (getattr(s, name)(f) for name in CALLS)
        controls = (said(f) for one in map(s.control, CONTROL) for said in (one.flying, one.unanswered, one.answering))
        return any_of(*calls, *controls, (s.held(f) | s.timed_out(f)) & ~s.asking(f))

    busy = some(RREF, lambda r: s.running(r) | (s.owner_holds(r) & ~s.owner_waits(r)))
    return none_of(some(FORK, is_busy), busy)


CLEAN: Final[dict[str, tuple[str, Callable[[State], Formula]]]] = {
    "P3 entry": (
        "No entry is left.",
        lambda s: every(RREF, lambda r: none_of(s.listed(r), s.running(r), s.owner_holds(r))),
    ),
    "P3 fork": ("No user and no count is left.", lambda s: every(FORK, lambda f: none_of(s.live(f), s.counted(f)))),
    "P4": ("No call is still parked.", lambda s: every(FORK, lambda f: ~s.parked(f))),
    "P5": ("No fetch is left.", lambda s: every(FORK, lambda f: none_of(s.fetches(f), s.fetch_parked(f)))),
    "P5 owner": ("No code on an owner waits.", lambda s: every(RREF, lambda r: ~s.owner_waits(r))),
}
"""What is claimed of every quiet state."""


def quiet_is_clean() -> Iterator[Lemma]:
    """P3, P4 and P5, of a quiet state."""
    for name, (text, clean) in CLEAN.items():
        yield Lemma(name, "a quiet state is clean", clean(S), (quiet(S),), text)


# -- the measure -------------------------------------------------------------------------------------------------------

WEIGHTS: Final = {
    "call": 12, "result": 12, "call_failed": 1,
    "remote_call": 4, "remote_failed": 3,
    "pending": 6, "confirmed": 3, "held": 1, "timed_out": 1,
    "asking": 2, "given_up": 1, "fetch_call": 1,
}  # fmt: skip
"""What each of these weighs. A fork on its way weighs more than all that can still come of it."""

ENTRY_WEIGHTS: Final = {"running": 2, "owner_holds": 1, "owner_waits": 1}
"""What the same weighs of an entry: what code on the owner does with it."""

BEGINNINGS: Final = ("CreateLocal", "CreateOnSelf", "CreateRemote", "OwnerShare", "UserShare", "FetchValue")
AT_PARENTS: Final = ("CallFailed at the parent", "ChildAccept")
"""The steps that change a second fork, the parent of the first."""

IDLE: Final = ("Lose", "Retry", "TimeOutCreation", " again", "that nobody waits for")
"""The steps that leave the measure as it is, by a part of their name."""


Part = Callable[[State, Term], Term]
"""A part of the measure: what a state has of it at one fork or RRef."""


def _worth(name: str, number: int) -> Part:
    return lambda s, thing: worth(getattr(s, name)(thing), number)


def _waiting(kind: str) -> Part:
    """A control message weighs two until it has had its effect, and then one until it is answered."""
    return lambda s, fork: plus(worth(s.control(kind).unanswered(fork), 1), worth(s.control(kind).is_due(fork), 1))


OF_FORKS: Final[dict[str, Part]] = {
    **{name: _worth(name, number) for name, number in WEIGHTS.items()},
    **{kind: _waiting(kind) for kind in CONTROL},
}
OF_RREFS: Final[dict[str, Part]] = {name: _worth(name, number) for name, number in ENTRY_WEIGHTS.items()}


def weight(s: State, thing: Term, parts: dict[str, Part]) -> Term:
    """Weigh a fork or an RRef."""
    return plus(0, *(part(s, thing) for part in parts.values()))


def here(s: State, forks: dict[str, Part], rrefs: dict[str, Part], *at: Variable) -> Term:
    """Weigh all that a step is about: some forks, which are different ones, and an RRef."""
    return plus(*(weight(s, fork, forks) for fork in at), weight(s, POINT.rref, rrefs))


def the_measure_shrinks(rules: Rules) -> Iterator[Lemma]:
    """No step makes anything heavier, and every step but the idle ones makes something lighter."""
    for case in steps(S, rules):
        if case.name in BEGINNINGS:
            continue
        is_idle = any(part in case.name for part in IDLE)
        at = (POINT.fork, POINT.other) if case.name.startswith(AT_PARENTS) else (POINT.fork,)
        parts = _touched(case, OF_FORKS), _touched(case, OF_RREFS)
        after, before = here(case.after, *parts, *at), here(S, *parts, *at)
        shrinks = at_most(after, before) if is_idle else less(after, before)
        text = "The measure does not grow." if is_idle else "The measure shrinks."
        given = (case.guard, *case.finite)
        yield Lemma("measure", case.name, shrinks, given, text, case)
        elsewhere = _elsewhere(case.after, *parts, *at)
        yield Lemma("measure elsewhere", case.name, elsewhere, given, "Nothing else gets heavier.", case)


def _touched(case: Step, parts: dict[str, Part]) -> dict[str, Part]:
    """Leave out the parts of the measure that a step does not touch: they are the same on both sides."""
    return {name: part for name, part in parts.items() if getattr(case.after, name) is not getattr(S, name)}


def _elsewhere(after: State, forks: dict[str, Part], rrefs: dict[str, Part], *at: Variable) -> Formula:
    def fork(f: Variable) -> Formula:
        other = all_of(*(different(f, one) for one in at))
        return implies(other, at_most(weight(after, f, forks), weight(S, f, forks)))

    def rref(r: Variable) -> Formula:
        return implies(different(r, POINT.rref), at_most(weight(after, r, rrefs), weight(S, r, rrefs)))

    return every(FORK, fork) & every(RREF, rref)


# -- progress ----------------------------------------------------------------------------------------------------------


def something_can_be_done(rules: Rules) -> Iterator[Lemma]:
    """For all that keeps a state from being quiet, a step can be taken that does something about it."""
    f, r = POINT.fork, POINT.rref
    for name, step in CALLS.items():
        yield _progress(name, getattr(S, name)(f), step, rules)
    for kind, name in NAMES.items():
        message = S.control(kind)
        yield _progress(f"{name} flies", message.flying(f), name, rules)
        yield _progress(f"Ack({name}) flies", message.answering(f), f"Ack({name})", rules)
        lost = all_of(message.unanswered(f), ~message.flying(f), ~message.answering(f))
        yield _progress(f"{name} was lost", lost, f"Retry {name}", rules)
    yield _progress("a function runs", S.running(r), "FinishFunction", rules)
    yield _progress("a handle is held", (S.held(f) | S.timed_out(f)) & ~S.asking(f), "LetGo", rules)
    yield _progress("the owner holds it", S.owner_holds(r) & ~S.owner_waits(r), "OwnerLetGo", rules)


def _progress(part: str, busy: Formula, step: str, rules: Rules) -> Lemma:
    def can(fork: Variable, other: Variable, rref: Variable) -> Formula:
        there = Point(fork, other, rref, POINT.stays, POINT.as_call)
        return any_of(*(case.guard for case in steps(S, rules, there) if case.name.startswith(step)))

    def at_fork(fork: Variable) -> Formula:
        return some(FORK, lambda other: some(RREF, lambda rref: can(fork, other, rref)))

    is_of_rref = step in ("FinishFunction", "OwnerLetGo")
    claim = can(POINT.fork, POINT.other, POINT.rref) if is_of_rref else at_fork(POINT.fork)
    return Lemma("progress", part, claim, (busy,), f"Then {step.strip()} can be taken.")


# -- the theorem -------------------------------------------------------------------------------------------------------


def lemmas(rules: Rules) -> Iterator[Lemma]:
    """List the three facts, and what tables look like at rest."""
    yield from quiet_is_clean()
    yield from resting()
    yield from something_can_be_done(rules)
    yield from the_measure_shrinks(rules)


LIVENESS: Final = Theorem(
    id="liveness",
    text="Once the application lets go, everything is released, if what is sent again and again arrives: P3, P4 and P5.",
    theory=RREFS,
    invariant=(
        no_user_stays_for_nothing,
        no_entry_stays_for_nothing,
        a_remote_creation_has_a_creator,
    ),
    known=INVARIANT,
    lemmas=lemmas,
)
