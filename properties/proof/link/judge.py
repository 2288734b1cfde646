"""The clauses of the proof as runtime assertions: looked up in a world of the model, of whatever a step has touched.

A whole world with all its pairs and triples of forks would cost more than the step. So a state is made of the forks that were
touched and of their parents, and a clause is looked up for each touched fork or RRef as the first thing it speaks of. What else
it speaks of is then among the parents. (J5 speaks of two creators' forks, and the model has one by construction.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from farref.model.rref.actions import Action, CreateRemote
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds, World
from farref.properties.proof.induction.theory import Clause
from farref.properties.proof.link.worlds import fork_name, rref_name, state_about
from farref.properties.proof.logic import formulas as fol
from farref.properties.proof.logic.small import Check, compiled
from farref.properties.proof.rref.invariant import INVARIANT
from farref.properties.proof.rref.state import FORK, RREF, State
from farref.properties.violation import Violation


class ProvedClauses:
    """The invariant of RRefs, for the runs of a bounded world."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._forks = {f"fork {fork_name(fork)}": ForkId(fork) for fork in range(bounds.forks_total)}
        self._rrefs = {f"RRef {rref_name(rref)}": RRefId(rref) for rref in range(bounds.rrefs)}

    def __call__(self, world: World, actions: Iterable[Action], touched: Iterable[str]) -> list[Violation]:
        """List the clauses that do not hold of what was touched, after a run of these actions."""
        remote = frozenset(action.rref for action in actions if isinstance(action, CreateRemote))
        named, lineage = tuple(touched), world.lineage
        forks = [
            fork for one in named if (fork := self._forks.get(one)) is not None and lineage[fork].holder is not None
        ]
        rrefs = [self._rrefs[one] for one in named if one in self._rrefs]
        state = state_about(world, forks, rrefs, remote, self.bounds)
        things = [(FORK, fork_name(fork)) for fork in forks] + [(RREF, rref_name(rref)) for rref in rrefs]
        return [
            Violation(one.id, one.serves.split(", ")[0], one.text, f"{'fork' if sort is FORK else 'RRef'} {thing}")
            for sort, thing in things
            if not _all_hold(sort)(state, thing)
            for one, holds in _checks(sort)
            if not holds(state, thing)
        ]


@cache
def _all_hold(sort: fol.Sort) -> Check:
    """Write all clauses that speak of a sort first as one function: nearly always it is all that is asked."""
    return compiled(fol.all_of(*(_about(one, _thing(sort)) for one in _clauses(sort))), (_thing(sort),))


@cache
def _checks(sort: fol.Sort) -> tuple[tuple[Clause[State], Check], ...]:
    """Write each of these clauses as a function of a state and of the first thing that it speaks of, once."""
    thing = _thing(sort)
    return tuple((one, compiled(_about(one, thing), (thing,))) for one in _clauses(sort))


def _clauses(sort: fol.Sort) -> list[Clause[State]]:
    return [one for one in INVARIANT if one.sorts[0] is sort]


def _thing(sort: fol.Sort) -> fol.Variable:
    return fol.Variable("thing", sort)


def _about(clause: Clause[State], thing: fol.Variable) -> fol.Formula:
    others = replace(clause, sorts=clause.sorts[1:], body=lambda s, *more: clause.body(s, thing, *more))
    return others.holds(State.arbitrary())
