"""The invariant of the proof as a TLA+ module: the clauses are written from `properties/proof`, so there is one text of them.

RRefFacts.tla says what each relation of the proof is in a state of RRef.tla. Here the formulas are printed.
"""

from __future__ import annotations

from typing import Final

from farref.properties.proof.induction.theory import Clause
from farref.properties.proof.logic import formulas as fol
from farref.properties.proof.rref.invariant import INVARIANT
from farref.properties.proof.rref.state import State
from farref.tlc.rref import camel

WIDTH: Final = 100

MODULE: Final = """\
---------------------------- MODULE RRefInvariant ----------------------------
(***************************************************************************)
(* The invariant that `farref prove rref` proves inductive, clause by      *)
(* clause, for TLC to look up in every state of a bounded world.  Written  *)
(* by farref/tlc/invariant.py from properties/proof/rref/invariant.py.     *)
(***************************************************************************)
EXTENDS RRefFacts

{clauses}

IndInv ==
{conjuncts}
=============================================================================
"""

Block = list[str]
"""The lines of a formula. All but the first are meant to stand below the first."""


def invariant_module() -> str:
    """Write the module."""
    conjuncts = "\n".join(f"    /\\ {one.id}" for one in INVARIANT)
    return MODULE.format(clauses="\n\n".join(map(_definition, INVARIANT)), conjuncts=conjuncts)


def operator(relation: str) -> str:
    """Name a relation of the proof as RRefFacts.tla does."""
    return f"Is{camel(relation.replace('.', '_'))}"


def _definition(clause: Clause[State]) -> str:
    names = _parameters(clause)
    quantified = ", ".join(f"{one.name} \\in {one.sort.name}s" for one in names)
    body = _formula(clause.body(State.arbitrary(), *names))
    return "\n".join(
        [
            f"\\* {clause.text} ({clause.serves})",
            f"{clause.id} == \\A {quantified} :",
            *(f"    {line}" for line in body),
        ]
    )


def _parameters(clause: Clause[State]) -> list[fol.Variable]:
    letters = iter("fgh")
    return [fol.Variable("r" if one.name == "RRef" else next(letters), one) for one in clause.sorts]


def _formula(formula: fol.Formula) -> Block:
    match formula:
        case fol.Constant(value):
            return [str(value).upper()]
        case fol.Related(name, arguments):
            return [f"{operator(name)}({', '.join(map(_term, arguments))})"]
        case fol.Equal(left, right):
            return [f"({_term(left)} = {_term(right)})"]
        case fol.Negation(of):
            return _beside("~", _formula(of))
        case fol.Conjunction(parts):
            return _list("/\\", [_formula(one) for one in parts])
        case fol.Disjunction((fol.Negation(condition), consequence)):
            return _implication(_formula(condition), _formula(consequence))
        case fol.Disjunction(parts):
            return _list("\\/", [_formula(one) for one in parts])
        case fol.Universal(variable, body):
            return _quantified("\\A", variable, body)
        case fol.Existential(variable, body):
            return _quantified("\\E", variable, body)
        case _:
            raise AssertionError(f"{formula} is not a formula that a clause of RRefs has")


def _quantified(quantifier: str, variable: fol.Variable, body: fol.Formula) -> Block:
    return _beside(f"({quantifier} {_term(variable)} \\in {variable.sort.name}s : ", _formula(body), ")")


def _implication(condition: Block, consequence: Block) -> Block:
    if _fits(condition, consequence):
        return [f"({condition[0]} => {consequence[0]})"]
    return ["(", *(f"  {line}" for line in condition), *_beside("  => ", consequence), ")"]


def _list(sign: str, parts: list[Block]) -> Block:
    if _fits(*parts):
        return [f"({f' {sign} '.join(part[0] for part in parts)})"]
    lines = [line for part in parts for line in _beside(f" {sign} ", part)]
    return ["(", *lines, ")"]


def _fits(*parts: Block) -> bool:
    return all(len(part) == 1 for part in parts) and sum(len(part[0]) + 4 for part in parts) < WIDTH


def _beside(before: str, block: Block, after: str = "") -> Block:
    first, *rest = block
    lines = [before + first, *(" " * len(before) + line for line in rest)]
    return [*lines[:-1], lines[-1] + after]


def _term(term: fol.Term) -> str:
    match term:
        case fol.Variable(name, _):
            return name.split("_")[0]  # those that a formula binds have a number behind, which differs from run to run
        case fol.Applied("rref_of", (fork,), _):
            return f"RRefOf({_term(fork)})"
        case _:
            raise AssertionError(f"{term} is not a term that a clause of RRefs has")
