"""z3, of Microsoft Research."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from farref.properties.proof.logic import formulas as fol
from farref.properties.proof.solvers.solver import (
    MILLISECONDS_MAX,
    Answer,
    Session,
    Signature,
    SolverMissing,
    Value,
    Writer,
)
from farref.words import how_to_install

try:
    import z3
except ImportError:  # pragma: no cover (the tests have it)
    z3 = None


class Z3:
    """z3, through its Python package."""

    name = "z3"

    def __init__(self) -> None:
        if z3 is None:
            raise SolverMissing(f"z3 is not installed; {how_to_install('proof')}")

    def session(self, symbols: Mapping[str, Signature]) -> Session:
        """Begin a conversation about some relations and functions."""
        return _Session(symbols)


class _Session:
    def __init__(self, symbols: Mapping[str, Signature]) -> None:
        self.solver = z3.Solver()
        self.solver.set("timeout", MILLISECONDS_MAX)
        self.solver.set("ctrl_c", False)  # a Ctrl-C is ours to hear; z3 would take it for an answer
        self.write = _Writer(symbols)

    def suppose(self, formulas: Iterable[fol.Formula]) -> None:
        self.solver.add(*(self.write.formula(one) for one in formulas))

    def push(self) -> None:
        self.solver.push()

    def pop(self) -> None:
        self.solver.pop()

    def satisfiable(self) -> Answer:
        return Answer(str(self.solver.check()))

    def values(self, terms: Sequence[fol.Term | fol.Related]) -> list[Value]:
        model = self.solver.model()
        return [_value(model.eval(self.write.anything(one), model_completion=True)) for one in terms]


def _value(found: Any) -> Value:
    if z3.is_bool(found):
        return bool(z3.is_true(found))
    return int(found.as_long()) if z3.is_int(found) else str(found)


class _Writer(Writer):
    """Writes formulas as z3 wants them."""

    def __init__(self, symbols: Mapping[str, Signature]) -> None:
        super().__init__()
        self.sorts: dict[str, Any] = {fol.NUMBER.name: z3.IntSort()}
        self.symbols = {name: self._symbol(name, *signature) for name, signature in symbols.items()}
        self.variables: dict[fol.Variable, Any] = {}

    def _symbol(self, name: str, arguments: tuple[fol.Sort, ...], result: fol.Sort | None) -> Any:
        gives = z3.BoolSort() if result is None else self.sort(result)
        return z3.Function(name, *(self.sort(one) for one in arguments), gives)

    def sort(self, sort: fol.Sort) -> Any:
        """Give a sort, the same every time."""
        if sort.name not in self.sorts:
            self.sorts[sort.name] = z3.DeclareSort(sort.name)
        return self.sorts[sort.name]

    def _write(self, formula: fol.Formula) -> Any:
        match formula:
            case fol.Constant(value):
                return z3.BoolVal(value)
            case fol.Related(name, arguments):
                return self.symbols[name](*map(self.term, arguments))
            case fol.Equal(left, right):
                return self.term(left) == self.term(right)
            case fol.AtMost(left, right):
                return self.term(left) <= self.term(right)
            case fol.Negation(of):
                return z3.Not(self.formula(of))
            case fol.Conjunction(parts):
                return z3.And(*map(self.formula, parts))
            case fol.Disjunction(parts):
                return z3.Or(*map(self.formula, parts))
            case fol.Universal(variable, body):
                return z3.ForAll([self.term(variable)], self.formula(body))
            case fol.Existential(variable, body):
                return z3.Exists([self.term(variable)], self.formula(body))
            case _:
                raise AssertionError(f"{formula} is not a formula")

    def term(self, term: fol.Term) -> Any:
        match term:
            case fol.Variable():
                return self._variable(term)
            case fol.Applied(name, arguments):
                return self.symbols[name](*map(self.term, arguments))
            case fol.Number(value):
                return z3.IntVal(value)
            case fol.Sum(parts):
                return z3.Sum(*map(self.term, parts))
            case fol.Choice(condition, then, otherwise):
                return z3.If(self.formula(condition), self.term(then), self.term(otherwise))

    def _variable(self, variable: fol.Variable) -> Any:
        if variable not in self.variables:
            # To z3 equal names are equal things, and a variable must not be a function of the same name.
            self.variables[variable] = z3.Const(f"?{variable.name}", self.sort(variable.sort))
        return self.variables[variable]
