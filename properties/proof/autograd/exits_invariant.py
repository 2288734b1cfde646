"""Why each exit goes out once, with all that leads to it: the invariant of `exits.py`, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.proof.autograd.exits import (
    ENTRY,
    EXIT,
    E,
    State,
    X,
    at,
    first_missing,
    flow,
    leaf,
    on,
    reached,
    root,
    stands_still,
    steps,
    to,
)
from farref.properties.proof.autograd.passes import WORKER
from farref.properties.proof.autograd.rules import Rules
from farref.properties.proof.induction.theory import Lemma, Situation, Theorem, Theory, clause
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
from farref.properties.proof.logic.relations import Named, empty

# -- the invariant -----------------------------------------------------------------------------------------------------


@clause("X1", "A13", EXIT)
def exits(s: State, x: Term) -> Formula:
    """An exit has gone out exactly if something has come that leads into it, and nothing more is waited for."""
    return iff(s.fired(x), s.ready(x))


@clause("X2", "A13", EXIT)
def gradients(s: State, x: Term) -> Formula:
    """The gradient of a recv is under way, or has come, exactly if the recv went out; and not both."""
    sent = implies(~leaf(x), iff(s.fired(x), s.flying(x) | s.came(to(x))))
    return sent & implies(s.flying(x), ~leaf(x) & ~s.came(to(x)))


@clause("X3", "A13", ENTRY)
def paths(s: State, e: Term) -> Formula:
    """What has come or is marked, a path leads to."""
    return implies(s.came(e) | s.marked(e), reached(e))


@clause("X4", "A16", ENTRY)
def given_up(s: State, e: Term) -> Formula:
    """To what is given up, no path leads."""
    return implies(s.given_up(e), ~reached(e))


@clause("X5", "A13, S1", EXIT)
def once(s: State, x: Term) -> Formula:
    """No exit has gone out twice, or before all that leads to it had come."""
    return none_of(s.twice(x), s.late(x))


@clause("X6", "A16", EXIT, ENTRY, WORKER)
def phases(s: State, x: Term, e: Term, w: Term) -> Formula:
    """First gradients flow, then marks, then what is not marked is given up."""
    begun = any_of(s.running(), s.marking(), s.resumed(), s.committed())
    marks = any_of(s.marked(e), s.mark_flying(x), s.sought(w))
    return all_of(
        at_most_one(s.running(), s.marking(), s.resumed(), s.committed()),
        implies(s.running() | ~begun, ~marks),
        implies(any_of(s.running(), s.marking(), ~begun), none_of(s.given_up(e), s.pruned(w))),
        implies(s.marking(), ~s.flying(x)),
        implies(s.resumed(), ~s.mark_flying(x)),
        implies(s.committed(), none_of(s.flying(x), s.mark_flying(x))),
        implies(~begun, none_of(s.came(e), s.fired(x))),
        implies(begun & root(e), s.came(e)),
    )


@clause("X7", "A16", EXIT)
def sought(s: State, x: Term) -> Formula:
    """What has begun to come on a worker that answered Seek has its mark under way, or there."""
    begun = all_of(s.marking(), s.sought(on(x)), s.some_came(x), ~s.fired(x), ~leaf(x))
    return implies(begun, s.mark_flying(x) | s.marked(to(x)))


@clause("X8", "A16", ENTRY, EXIT)
def marks(s: State, e: Term, x: Term) -> Formula:
    """A mark is passed on to whatever depends on it and has not begun to come."""
    passed = all_of(s.marking(), s.marked(e), flow(e, x), ~leaf(x), ~s.some_came(x))
    return implies(passed, s.mark_flying(x) | s.marked(to(x)))


@clause("X9", "A16", EXIT)
def marks_under_way(s: State, x: Term) -> Formula:
    """A mark is under way only for a recv to whose send a path leads."""
    return implies(s.mark_flying(x), ~leaf(x) & reached(to(x)))


@clause("X10", "A16", ENTRY)
def all_marked(s: State, e: Term) -> Formula:
    """Once gradients flow again, all that a path leads to has come or is marked; a worker that resumed gave up the rest."""
    rest = all_of(s.pruned(at(e)), ~s.came(e), ~s.marked(e))
    return implies(s.resumed() & reached(e), s.came(e) | s.marked(e)) & implies(s.resumed() & rest, s.given_up(e))


@clause("X11", "A16, S1", ENTRY)
def committed(s: State, e: Term) -> Formula:
    """In a committed pass, all that a path leads to has come."""
    return implies(s.committed() & reached(e), s.came(e))


@clause("X12", "A16, S1", EXIT)
def nothing_waits(s: State, x: Term) -> Formula:
    """In a committed pass no exit waits for anything."""
    return implies(s.committed() & s.some_came(x), s.fired(x))


# -- what follows ------------------------------------------------------------------------------------------------------


@clause("S1 exits", "A13", EXIT)
def each_goes_out_once_and_whole(s: State, x: Term) -> Formula:
    """In a committed pass an exit has gone out, once, exactly if a path leads to it, and all paths to it had come by then."""
    some_path = some(ENTRY, lambda e: flow(e, x) & reached(e))
    all_paths = every(ENTRY, lambda e: implies(flow(e, x), iff(reached(e), s.came(e))))
    whole = all_of(iff(s.fired(x), some_path), all_paths, none_of(s.twice(x), s.late(x)))
    return implies(s.committed(), whole)


def fast(_: Rules) -> Iterator[Lemma]:
    """T1: FAST ends well exactly if every send on a worker that takes part gets a gradient (A15)."""
    s = EXITS.state

    def awaited(e: Term) -> Formula:
        return some(ENTRY, lambda f: s.came(f) & same(at(f), at(e)))

    still = (s.running(), stands_still(s), first_missing(s.came))
    all_reached = every(ENTRY, lambda e: implies(awaited(e), reached(e)))
    nothing_is_missing = every(ENTRY, lambda e: implies(awaited(e), s.came(e)))
    text = "At a standstill nothing is missing if a path leads to all that is waited for."
    yield Lemma("T1", "where FAST can end well", nothing_is_missing, (*still, all_reached), text)
    text = "If nothing is missing, a path leads to all that is waited for."
    yield Lemma("T1", "where FAST ends well", all_reached, (*still, nothing_is_missing), text)


# -- the theorem -------------------------------------------------------------------------------------------------------


def _graph() -> Iterator[Formula]:
    """Say what every recorded graph is like."""
    yield every(ENTRY, lambda e: every(EXIT, lambda x: implies(flow(e, x), same(at(e), on(x)))))
    yield every(ENTRY, lambda e: implies(root(e), reached(e)))
    further = every(
        ENTRY, lambda e: every(EXIT, lambda x: implies(all_of(reached(e), flow(e, x), ~leaf(x)), reached(to(x))))
    )
    yield further
    yield every(EXIT, lambda x: implies(~leaf(x), ~root(to(x))))
    yield every(
        EXIT,
        lambda x: every(EXIT, lambda y: implies(none_of(leaf(x), leaf(y), same(x, y)), different(to(x), to(y)))),
    )


EXITS: Final = Theory(
    name="exits",
    state=State.arbitrary(),
    initial=empty,
    steps=steps,
    axioms=tuple(_graph()),
    functions={"at": ((ENTRY,), WORKER), "on": ((EXIT,), WORKER), "to": ((EXIT,), ENTRY)},
    constant=(
        Named("root", "is the root", (ENTRY,)),
        Named("leaf", "is a leaf", (EXIT,)),
        Named("flow", "leads into {}", (ENTRY, EXIT)),
        Named("reached", "is what a path leads to", (ENTRY,)),
    ),
)


def situations(s: State) -> Iterator[Situation]:
    """List what the invariant must leave possible."""
    yield Situation("something is given up, gradients flow again", s.resumed() & s.given_up(E) & s.flying(X))
    waits = all_of(s.marking(), s.some_came(X), ~s.fired(X), ~leaf(X), s.marked(to(X)))
    yield Situation("an exit waits, and is marked", waits)
    never = some(ENTRY, lambda e: ~reached(e))
    yield Situation("a pass is committed over what is unused", all_of(s.committed(), s.fired(X), never))


SUMS: Final = Theorem(
    id="exits",
    text="Each exit goes out once, with all that leads to it; SMART gives up exactly what is not reached: S1 without sums, T1.",
    theory=EXITS,
    invariant=(
        exits,
        gradients,
        paths,
        given_up,
        once,
        phases,
        sought,
        marks,
        marks_under_way,
        all_marked,
        committed,
        nothing_waits,
    ),
    goals=(each_goes_out_once_and_whole,),
    lemmas=fast,
    situations=tuple(situations(EXITS.state)),
)
