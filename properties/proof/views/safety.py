"""What the invariant is for: nothing goes early for anybody who is not buried, and the buried are heard by nobody (R46)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.proof.induction.theory import Situation, Theorem, Theory, clause
from farref.properties.proof.logic.formulas import Formula, Term, Variable, all_of, any_of, different, implies
from farref.properties.proof.logic.relations import empty
from farref.properties.proof.rref.safety import (
    every_counted_fork_is_accounted_for,
    no_entry_goes_while_the_owner_uses_it,
    one_entry_for_each_rref,
)
from farref.properties.proof.rref.state import FORK, rref_of
from farref.properties.proof.views.invariant import INVARIANT
from farref.properties.proof.views.state import (
    AXIOMS,
    CONSTANT,
    FUNCTIONS,
    WORKER,
    State,
    holder,
    minter,
)
from farref.properties.proof.views.steps import steps

VIEWS: Final[Theory[State]] = Theory(
    name="views",
    state=State.arbitrary(),
    initial=empty,
    steps=steps,
    axioms=AXIOMS,
    functions=FUNCTIONS,
    constant=CONSTANT,
)


@clause("P1 user", "R46", FORK)
def no_entry_goes_while_a_fork_lives(s: State, f: Term) -> Formula:
    """No entry goes while somebody who is not buried holds a fork of it, or will, or waits for its value."""
    needed = any_of(s.live(f), s.comes(f), s.fetches(f), s.fetch_parked(f))
    return implies(s.gone(rref_of(f)) & ~s.out(f), ~needed)


@clause("G2", "R46", FORK, FORK)
def no_parent_goes_before_its_child_is_counted(s: State, f: Term, g: Term) -> Formula:
    """The parent of a child that is not counted lives and lists it, unless the child's holder is buried."""
    waits = all_of(s.parent(f, g), ~s.out(f), s.pending(f) | s.travels(f))
    return implies(waits, s.kept(f) & s.live(g))


@clause("P8", "R46", FORK)
def confirmed_means_counted(s: State, f: Term) -> Formula:
    """Confirmed means counted, unless the holder is buried."""
    return implies(s.confirmed(f) & ~s.out(f), s.counted(f))


@clause("V-cut", "R46", WORKER, WORKER)
def the_buried_are_heard_by_nobody(s: State, w: Term, d: Term) -> Formula:
    """Whoever is buried is heard by nobody who is not."""
    return implies(s.buried(d) & ~s.buried(w), s.shuns(w, d))


GOALS: Final = (
    no_entry_goes_while_the_owner_uses_it,
    no_entry_goes_while_a_fork_lives,
    one_entry_for_each_rref,
    every_counted_fork_is_accounted_for,
    no_parent_goes_before_its_child_is_counted,
    confirmed_means_counted,
    the_buried_are_heard_by_nobody,
)


def situations(s: State) -> Iterator[Situation]:
    """List what the invariant must leave possible: what the rules are there for, and somebody excluded who goes on."""
    f, g = (Variable(name, FORK) for name in "fg")
    w, d = (Variable(name, WORKER) for name in "wd")
    apart = all_of(different(w, d), s.shuns(w, d), ~s.buried(d))
    yield Situation("somebody is excluded by one worker, and heard by another", apart & ~s.shuns(holder(f), d))
    heir = all_of(s.pending(f), s.has_parent(f), s.shuns(holder(f), minter(f)), ~s.buried(minter(f)), ~s.counted(f))
    yield Situation("an heir of somebody excluded is not counted yet", heir)
    yield Situation("somebody buried still holds a fork that is counted", s.out(f) & all_of(s.held(f), s.counted(f)))
    lives_on = all_of(s.out(f), s.held(f), s.confirmed(g), ~s.out(g))
    yield Situation("somebody buried lives on, beside a user who is not", lives_on)
    yield Situation("an entry is gone, and a buried worker has its fork", all_of(s.gone(rref_of(f)), s.held(f)))
    kept = all_of(s.remote(f), s.counted(f), s.shut(f), s.remote_call(f), s.ready(rref_of(f)))
    yield Situation("an entry is kept for a creator who is excluded", kept)


RECLAIMING: Final = Theorem(
    id="reclaiming",
    text="What a lost worker held is let go, and never early for anybody who is not buried, even one excluded by mistake.",
    theory=VIEWS,
    invariant=INVARIANT,
    goals=GOALS,
    situations=tuple(situations(VIEWS.state)),
)
