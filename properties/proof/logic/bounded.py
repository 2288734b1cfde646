"""Formulas about a few named things: every quantifier is written out. What is left can be decided by any solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from farref.properties.proof.logic import formulas as fol

Names = Mapping[str, Sequence[fol.Term]]
"""By sort, a name for each thing there is."""


def written_out(
    formula: fol.Formula, names: Names, meant: Mapping[fol.Variable, fol.Term] | None = None
) -> fol.Formula:
    """Say the same without quantifiers, where the named things are all there are."""
    meant = meant or {}
    match formula:
        case fol.Related(name, arguments):
            return fol.Related(name, tuple(_term(one, names, meant) for one in arguments))
        case fol.Equal(left, right):
            return fol.same(_term(left, names, meant), _term(right, names, meant))
        case fol.AtMost(left, right):
            return fol.AtMost(_term(left, names, meant), _term(right, names, meant))
        case fol.Negation(of):
            return ~written_out(of, names, meant)
        case fol.Conjunction(parts):
            return fol.all_of(*(written_out(one, names, meant) for one in parts))
        case fol.Disjunction(parts):
            return fol.any_of(*(written_out(one, names, meant) for one in parts))
        case fol.Universal(variable, body):
            return fol.all_of(*(written_out(body, names, {**meant, variable: one}) for one in _all(variable, names)))
        case fol.Existential(variable, body):
            return fol.any_of(*(written_out(body, names, {**meant, variable: one}) for one in _all(variable, names)))
        case _:
            return formula


def _all(variable: fol.Variable, names: Names) -> Sequence[fol.Term]:
    return names[variable.sort.name]


def _term(term: fol.Term, names: Names, meant: Mapping[fol.Variable, fol.Term]) -> fol.Term:
    match term:
        case fol.Variable():
            return meant.get(term, term)
        case fol.Applied(name, arguments, sort):
            return fol.Applied(name, tuple(_term(one, names, meant) for one in arguments), sort)
        case fol.Sum(parts):
            return fol.Sum(tuple(_term(one, names, meant) for one in parts))
        case fol.Choice(condition, then, otherwise):
            return fol.Choice(
                written_out(condition, names, meant), _term(then, names, meant), _term(otherwise, names, meant)
            )
        case fol.Number():
            return term
