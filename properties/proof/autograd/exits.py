"""Which gradients go out, and when: the part of S1 that is about structure and not about sums (A13, A15, A16).

One pass over whatever was recorded. On each worker gradients come in at *entries* (the root, or the send of a pair) and go out
at *exits* (the recv of a pair, or a leaf). A flow says that an exit depends on an entry of its worker. An exit goes out when
something has come and nothing more is waited for. Where the pass stands still although something is missing, FAST fails.
SMART marks what a gradient can still come for, gives up the rest, and goes on.

That a standstill is noticed is the matter of `passes.py`; here it is simply seen. What is added up is no matter of this proof:
it says that each exit goes out once, when exactly what leads to it has come. Then its gradient is the sum over all paths to
it, by induction over the graph (A26).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from farref.properties.proof.autograd.passes import WORKER
from farref.properties.proof.autograd.rules import Rules
from farref.properties.proof.induction.theory import Case
from farref.properties.proof.logic.formulas import (
    TRUE,
    Applied,
    Formula,
    Related,
    Sort,
    Term,
    Variable,
    all_of,
    any_of,
    every,
    implies,
    none_of,
    same,
    some,
)
from farref.properties.proof.logic.relations import Relation, Relations, relation

ENTRY, EXIT = Sort("Entry", "e"), Sort("Exit", "x")


def at(entry: Term) -> Term:
    """Name the worker of an entry."""
    return Applied("at", (entry,), WORKER)


def on(exit_: Term) -> Term:
    """Name the worker of an exit."""
    return Applied("on", (exit_,), WORKER)


def to(exit_: Term) -> Term:
    """Name the entry that the gradient of a recv goes to."""
    return Applied("to", (exit_,), ENTRY)


def root(entry: Term) -> Formula:
    """Say that an entry is what `backward` is called on."""
    return Related("root", (entry,))


def leaf(exit_: Term) -> Formula:
    """Say that an exit is a parameter, and no recv."""
    return Related("leaf", (exit_,))


def flow(entry: Term, exit_: Term) -> Formula:
    """Say that an exit depends on an entry."""
    return Related("flow", (entry, exit_))


def reached(entry: Term) -> Formula:
    """Say that a path of flows and pairs leads from the root to an entry."""
    return Related("reached", (entry,))


@dataclass(frozen=True)
class State(Relations):
    """How far a pass has come."""

    running: Relation = relation("gradients flow")
    marking: Relation = relation("it is found out what a gradient can still come for")
    resumed: Relation = relation("gradients flow again")
    committed: Relation = relation("the pass is committed")

    came: Relation = relation("has its gradient", ENTRY)
    marked: Relation = relation("is marked", ENTRY)
    given_up: Relation = relation("is not waited for any more", ENTRY)

    fired: Relation = relation("has gone out", EXIT)
    flying: Relation = relation("has its gradient under way", EXIT)
    mark_flying: Relation = relation("has a Mark under way", EXIT)

    sought: Relation = relation("has answered Seek", WORKER)
    pruned: Relation = relation("has answered Resume", WORKER)

    # History, for properties to speak of
    twice: Relation = relation("has gone out twice", EXIT)
    late: Relation = relation("got a gradient after it had gone out", EXIT)

    def some_came(self, x: Term) -> Formula:
        """Say that something has come that leads into an exit."""
        return some(ENTRY, lambda e: flow(e, x) & self.came(e))

    def ready(self, x: Term) -> Formula:
        """Say that something has come that leads into an exit, and nothing more is waited for."""
        complete = every(ENTRY, lambda e: implies(flow(e, x), self.came(e) | self.given_up(e)))
        return self.some_came(x) & complete


E, X, W = Variable("e", ENTRY), Variable("x", EXIT), Variable("w", WORKER)
Step = Case[State]


# -- the one fact that first-order logic cannot say --------------------------------------------------------------------


def first_missing(has_it: Callable[[Term], Formula]) -> Formula:
    """A finite set that is not empty has a first element: here, of the entries that are reached and lack something.

    The first one is a root, or a path leads to it by way of an exit. As the graph has no cycles, whatever leads into this exit
    comes before it, and so does not lack it if it is reached.
    """

    def lacks(e: Term) -> Formula:
        return reached(e) & ~has_it(e)

    def by(e: Term, x: Term) -> Formula:
        earlier = every(ENTRY, lambda f: implies(flow(f, x), ~lacks(f)))
        through = some(ENTRY, lambda f: flow(f, x) & reached(f))
        return all_of(~leaf(x), same(to(x), e), earlier, through)

    def is_first(e: Term) -> Formula:
        return lacks(e) & (root(e) | some(EXIT, lambda x: by(e, x)))

    return implies(some(ENTRY, lacks), some(ENTRY, is_first))


def stands_still(s: State) -> Formula:
    """Say that no gradient and no mark is under way."""
    return ~some(EXIT, lambda x: s.flying(x) | s.mark_flying(x))


# -- steps -------------------------------------------------------------------------------------------------------------


def begin(s: State, rules: Rules) -> Iterator[Step]:
    """`backward` is called: the root is the first gradient (A10)."""
    idle = none_of(s.running(), s.marking(), s.resumed(), s.committed())
    after = s.but(came=lambda e: s.came(e) | root(e)).at(running=True)
    yield Step("Begin", idle, _gone_out(s, after, lambda _: TRUE))


def arrive(s: State, rules: Rules) -> Iterator[Step]:
    """A gradient arrives, and sends on what it completes (A13)."""
    guard = all_of(s.flying(X), same(to(X), E), same(at(E), W))
    after = s.at(X, flying=False).at(E, came=True)
    after = after.but(late=lambda x: s.late(x) | (flow(E, x) & s.fired(x)))
    yield Step("PropagateGradients", guard, _gone_out(s, after, lambda x: same(on(x), W)))


def standstill(s: State, rules: Rules) -> Iterator[Step]:
    """At a standstill with nothing missing the pass is committed; SMART goes on where something is (A15, A16)."""
    still, lacks = stands_still(s), first_missing(s.came)
    yield Step(
        "Commit: nothing is missing",
        all_of(s.running(), still, ~some(ENTRY, lambda e: _is_awaited(s, e) & ~s.came(e))),
        s.at(running=False).at(committed=True),
        (lacks,),
    )
    mark = (
        s.at(running=False).at(marking=True) if rules["marks_before_pruning"] else s.at(running=False).at(resumed=True)
    )
    yield Step("a standstill", s.running() & still, mark)
    all_sought = every(ENTRY, lambda e: implies(s.came(e), s.sought(at(e))))
    goes_on = s.at(marking=False).at(resumed=True)
    found = first_missing(lambda e: s.came(e) | s.marked(e))
    yield Step("all is marked", all_of(s.marking(), still, all_sought), goes_on, (found,))
    all_pruned = every(ENTRY, lambda e: implies(s.came(e) | s.marked(e), s.pruned(at(e))))
    committed = s.at(resumed=False).at(committed=True)
    yield Step("Commit: the rest was given up", all_of(s.resumed(), still, all_pruned), committed, (lacks,))


def mark(s: State, rules: Rules) -> Iterator[Step]:
    """What can still go out is found: from what has begun to come, and on from there (A16)."""
    begun = s.but(
        mark_flying=lambda x: s.mark_flying(x) | all_of(same(on(x), W), ~leaf(x), s.some_came(x), ~s.fired(x))
    )
    yield Step("Seek", s.marking() & ~s.sought(W), begun.at(W, sought=True))
    taken = s.at(X, mark_flying=False).at(E, marked=True)

    def passes_on(x: Term) -> Formula:
        is_marked = some(ENTRY, lambda e: flow(e, x) & s.marked(e))
        return all_of(flow(E, x), ~leaf(x), ~s.some_came(x), ~is_marked)

    on_again = taken.but(mark_flying=lambda x: taken.mark_flying(x) | passes_on(x))
    yield Step("Mark", s.mark_flying(X) & same(to(X), E), on_again)


def resume(s: State, rules: Rules) -> Iterator[Step]:
    """A worker gives up what is not marked, and sends on what waited for that only (A16)."""
    pruned = s.at(W, pruned=True).but(
        given_up=lambda e: s.given_up(e) | all_of(same(at(e), W), ~s.came(e), ~s.marked(e))
    )
    yield Step("Resume", s.resumed() & ~s.pruned(W), _gone_out(s, pruned, lambda x: same(on(x), W)))


def steps(s: State, rules: Rules) -> Iterator[Step]:
    """List everything that can happen."""
    for step in (begin, arrive, standstill, mark, resume):
        yield from step(s, rules)


# -- what the steps share ----------------------------------------------------------------------------------------------


def _gone_out(before: State, after: State, concerns: Callable[[Term], Formula]) -> State:
    """Let those exits go out that have become ready."""

    def newly(x: Term) -> Formula:
        return all_of(concerns(x), after.ready(x), ~before.ready(x))

    return after.but(
        fired=lambda x: before.fired(x) | newly(x),
        flying=lambda x: after.flying(x) | (newly(x) & ~leaf(x)),
        twice=lambda x: before.twice(x) | (newly(x) & before.fired(x)),
    )


def _is_awaited(s: State, e: Term) -> Formula:
    """Say that a worker that takes part waits for an entry: it waits for all of its sends (A11)."""
    takes_part = some(ENTRY, lambda f: s.came(f) & same(at(f), at(e)))
    return any_of(root(e), takes_part)
