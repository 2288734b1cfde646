"""What the invariant is for: the safety properties of `spec/rref.md`, each of which follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.proof.induction.theory import Lemma, Situation, Theorem, Theory, clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    Variable,
    all_of,
    any_of,
    different,
    iff,
    implies,
    none_of,
)
from farref.properties.proof.logic.relations import Named, empty, unchanged
from farref.properties.proof.rref.controls import NAMES
from farref.properties.proof.rref.invariant import INVARIANT
from farref.properties.proof.rref.point import POINT
from farref.properties.proof.rref.rules import Rules
from farref.properties.proof.rref.state import CONTROL, FORK, RREF, State, rref_of
from farref.properties.proof.rref.steps import steps

RREFS: Final[Theory[State]] = Theory(
    name="rref",
    state=State.arbitrary(),
    initial=empty,
    steps=steps,
    functions={"rref_of": ((FORK,), RREF)},
    constant=(
        Named("for_owner", "is meant for the owner itself", (FORK,)),
        Named("stays", "what arrives is a copy", ()),
        Named("as_call", "it is shared as an argument", ()),
    ),
)


@clause("P1 owner", "R22", RREF)
def no_entry_goes_while_the_owner_uses_it(s: State, r: Term) -> Formula:
    """No entry goes while code on the owner uses it."""
    return implies(s.gone(r), ~s.used(r))


@clause("P1 user", "R33", FORK)
def no_entry_goes_while_a_fork_lives(s: State, f: Term) -> Formula:
    """No entry goes while a fork lives, travels or fetches."""
    needed = any_of(s.live(f), s.handle(f), s.travels(f), s.asking(f), s.fetch_parked(f), s.fetch_call(f))
    return implies(s.gone(rref_of(f)), ~needed)


@clause("P2", "R21", RREF)
def one_entry_for_each_rref(s: State, r: Term) -> Formula:
    """All code on the owner that uses an RRef uses one entry."""
    return none_of(s.orphaned(r), s.duplicated(r))


@clause("G1", "R33", FORK)
def every_counted_fork_is_accounted_for(s: State, f: Term) -> Formula:
    """What is counted lives, travels, or is being deleted."""
    return implies(s.counted(f), any_of(s.live(f), s.travels(f), s.call_failed(f), s.user_delete.unanswered(f)))


@clause("G2", "R24", FORK, FORK)
def no_parent_goes_before_its_child_is_counted(s: State, f: Term, g: Term) -> Formula:
    """The parent of a child that is not counted lives and lists it."""
    return implies(s.parent(f, g) & (s.pending(f) | s.travels(f)), s.kept(f) & s.live(g))


@clause("P8", "R31", FORK)
def confirmed_means_counted(s: State, f: Term) -> Formula:
    """Confirmed means counted."""
    return implies(s.confirmed(f), s.counted(f))


@clause("P8 owner's", "R15", FORK)
def from_the_owner_means_confirmed(s: State, f: Term) -> Formula:
    """A fork from the owner is confirmed."""
    return implies(all_of(s.live(f), ~s.has_parent(f), ~s.remote(f)), s.confirmed(f))


@clause("P9 user", "R10", FORK)
def no_user_waits_for_user_code(s: State, f: Term) -> Formula:
    """A pending user has a message under way that settles it."""
    calls = (s.remote_call(f), s.remote_failed(f), s.user_accept(f))
    return implies(s.pending(f), any_of(*calls, s.fork_request.unanswered(f), s.create_failed.unanswered(f)))


@clause("P9 parent", "R18", FORK)
def no_parent_waits_for_user_code(s: State, f: Term) -> Formula:
    """A listed child has a message under way that settles it."""
    return implies(s.kept(f), any_of(s.travels(f), s.call_failed(f), s.pending(f), s.child_accept.unanswered(f)))


@clause("P10", "R33", FORK)
def counts_agree_when_nothing_is_under_way(s: State, f: Term) -> Formula:
    """With nothing under way about a fork, counted means that it lives."""
    calls = (s.remote_call(f), s.user_accept(f), s.remote_failed(f), s.travels(f), s.call_failed(f))
    controls = (one.unanswered(f) for one in (s.fork_request, s.user_delete, s.create_failed))
    return any_of(iff(s.counted(f), s.live(f)), *calls, *controls)


@clause("P11", "R20", FORK)
def a_fetch_is_answered_with_a_value(s: State, f: Term) -> Formula:
    """A fetch is answered with a value that is kept."""
    return implies(s.fetch_return(f), s.ready(rref_of(f)))


GOALS: Final = (
    no_entry_goes_while_the_owner_uses_it,
    no_entry_goes_while_a_fork_lives,
    one_entry_for_each_rref,
    every_counted_fork_is_accounted_for,
    no_parent_goes_before_its_child_is_counted,
    confirmed_means_counted,
    from_the_owner_means_confirmed,
    no_user_waits_for_user_code,
    no_parent_waits_for_user_code,
    counts_agree_when_nothing_is_under_way,
    a_fetch_is_answered_with_a_value,
)
"""The properties of one state, as `properties/rref/always.py` has them."""


def a_copy_changes_nothing(rules: Rules) -> Iterator[Lemma]:
    """P6, of a step: a control message that had its effect changes nothing but what is in flight (R7)."""
    s, outside = RREFS.state, [one for one in State.vocabulary() if one.path[0] not in CONTROL]
    for kind in CONTROL:
        for case in steps(s, rules):
            if case.name.startswith(NAMES[kind]):
                again = s.control(kind).flying(POINT.fork) & s.control(kind).processed(POINT.fork)
                tables = unchanged(s, case.after, iter(outside))
                yield Lemma("P6", case.name, tables, (case.guard, again), "A copy changes no table.", case)


def situations(s: State) -> Iterator[Situation]:
    """List what the invariant must leave possible, of three forks of one RRef in one line."""
    f, g, h = (Variable(name, FORK) for name in "fgh")
    line = s.parent(g, f) & s.parent(h, g)
    yield Situation("two forks live at once", all_of(different(f, g), s.live(f), s.live(g)))
    yield Situation("three generations live at once", all_of(line, s.live(f), s.live(g), s.live(h)))
    yield Situation("a child is counted, its parent is not", all_of(line, s.counted(h), s.pending(g), ~s.counted(g)))
    yield Situation("an entry is gone, a delete still flies", s.gone(rref_of(f)) & s.user_delete.flying(f))
    yield Situation("a use on the owner waits for a creation", s.owner_waits(rref_of(f)) & s.expected(rref_of(f)))


SAFETY: Final = Theorem(
    id="safety",
    text="No value is dropped while anybody can name it: P1, P2, P6, P8 to P11, G1 and G2.",
    theory=RREFS,
    invariant=INVARIANT,
    goals=GOALS,
    lemmas=a_copy_changes_nothing,
    situations=tuple(situations(RREFS.state)),
)
