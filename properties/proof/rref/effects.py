"""What several steps have in common: a user goes, an entry goes, a value is served.

Here is the one place where the proof uses more than first-order logic: `first_uncounted`, where an entry is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from farref.properties.proof.logic.formulas import (
    FALSE,
    TRUE,
    Formula,
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
from farref.properties.proof.logic.relations import Relation
from farref.properties.proof.rref.point import Step
from farref.properties.proof.rref.rules import Rules
from farref.properties.proof.rref.state import FORK, State, rref_of

# -- a user goes -------------------------------------------------------------------------------------------------------


def release(name: str, guard: Formula, s: State, fork: Variable, rules: Rules) -> Iterator[Step]:
    """Delete the user if nothing needs it any more, and tell the owner (R26): it goes, or it stays."""
    goes = may_go(s, fork, rules)
    yield Step(f"{name}: the user goes", guard & goes, deleted(s, fork, rules))
    yield Step(f"{name}: the user stays", guard & ~goes, s)


def may_go(s: State, fork: Variable, rules: Rules) -> Formula:
    """Say that nothing needs this user (R20, R24, R25)."""
    has_child = some(FORK, lambda child: s.parent(child, fork) & s.kept(child))
    return all_of(
        s.confirmed(fork) if rules["user_waits_for_confirmation"] else s.live(fork),
        ~s.handle(fork),
        ~has_child if rules["parent_waits_for_children"] else TRUE,
        ~s.fetches(fork) if rules["fetch_pins_user"] else TRUE,
    )


def deleted(s: State, fork: Variable, rules: Rules) -> State:
    """Forget the user and send its `UserDelete`."""
    gone = s.at(fork, confirmed=False, pending=False, asking=False, given_up=False).send("user_delete", fork)
    if rules["parent_waits_for_children"]:
        return gone
    return gone.but(
        kept=lambda child: s.kept(child) & ~s.parent(child, fork)
    )  # the list of children goes with the user


# -- an entry goes -----------------------------------------------------------------------------------------------------


def settle(name: str, guard: Formula, s: State, rref: Variable, rules: Rules) -> Iterator[Step]:
    """Drop the entry if nobody can name it any more (R21, R22): it is dropped, or kept."""
    drops = may_drop(s, rref, rules)
    yield Step(f"{name}: the entry goes", guard & drops, dropped(s, rref), (first_uncounted(s, rref),))
    yield Step(f"{name}: the entry stays", guard & ~drops, s)


def may_drop(s: State, rref: Variable, rules: Rules) -> Formula:
    """Say that the entry is kept for nothing."""
    used = s.used(rref) if rules["entry_counts_local_references"] else FALSE
    unused = (s.created(rref) | s.ready(rref)) & ~used
    early = FALSE if rules["entry_waits_for_creation"] else s.expected(rref)
    return (unused | early) & every(FORK, lambda fork: implies(same(rref_of(fork), rref), ~s.counted(fork)))


def dropped(s: State, rref: Variable) -> State:
    """Remove the entry; whoever waits for its value waits for ever."""
    parked = some(FORK, lambda fork: same(rref_of(fork), rref) & s.fetch_parked(fork))
    lost = any_of(s.orphaned(rref), s.owner_waits(rref), parked)
    after = s.at(rref, gone=True, expected=False, created=False, ready=False, owner_waits=False, orphaned=lost)
    return after.but(fetch_parked=_elsewhere(s.fetch_parked, rref))


def first_uncounted(s: State, rref: Variable) -> Formula:
    """A finite set that is not empty has a first element. This is the only use of it, and R33 rests on it.

    The set: forks that are not counted although they live, travel, or failed to arrive. Forks are finitely many, and each was
    minted after its parent. So if the set has a member, it has one whose parent is not in it.
    """

    def astray(fork: Term) -> Formula:
        alive = any_of(s.live(fork), s.travels(fork), s.call_failed(fork))
        return all_of(same(rref_of(fork), rref), alive, ~s.counted(fork))

    def is_first(fork: Variable) -> Formula:
        return astray(fork) & every(FORK, lambda parent: implies(s.parent(fork, parent), ~astray(parent)))

    return implies(some(FORK, astray), some(FORK, is_first))


# -- a value, a handle, an entry come ----------------------------------------------------------------------------------


def served(s: State, rref: Variable) -> State:
    """Answer everybody who waits for the value (R20, R23)."""
    answered = s.fetch_parked

    def fetch_return(fork: Term) -> Formula:
        return s.fetch_return(fork) | (answered(fork) & same(rref_of(fork), rref))

    return s.at(rref, owner_waits=False).but(fetch_parked=_elsewhere(answered, rref), fetch_return=fetch_return)


def given_to_owner(s: State, rref: Variable, is_call: bool) -> State:
    """Give code on the owner its own RRef; an argument waits until there is a value (R19, R21)."""
    return s.at(
        rref,
        expected=s.expected(rref) | ~s.listed(rref),
        duplicated=s.duplicated(rref) | s.gone(rref),
        gone=False,
        owner_holds=True,
        owner_waits=s.owner_waits(rref) | ~s.ready(rref) if is_call else s.owner_waits(rref),
    )


def entered(s: State, rref: Variable, **phase: bool) -> State:
    """Make the entry, or fill in the one that was expected (R10, R21)."""
    blank = s.at(rref, expected=False, created=False, ready=False, gone=False)
    return blank.at(rref, duplicated=s.duplicated(rref) | s.gone(rref), **phase)


def _elsewhere(relation: Relation, rref: Variable) -> Relation:
    return lambda fork: relation(fork) & different(rref_of(fork), rref)
