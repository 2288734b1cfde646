"""cvc5, of Stanford University and the University of Iowa: a second opinion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

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
    import cvc5
except ImportError:  # pragma: no cover (the tests have it)
    cvc5 = None

OPTIONS: Final[dict[str, str]] = {
    "incremental": "true",
    "produce-models": "true",
    "tlimit-per": str(MILLISECONDS_MAX),
    "enum-inst": "true",  # tries every thing that is named, which decides questions without nested functions
}


class Cvc5:
    """cvc5, through its Python package."""

    name = "cvc5"

    def __init__(self) -> None:
        if cvc5 is None:
            raise SolverMissing(f"cvc5 is not installed; {how_to_install('proof')}")

    def session(self, symbols: Mapping[str, Signature]) -> Session:
        """Begin a conversation about some relations and functions."""
        return _Session(symbols)


class _Session:
    def __init__(self, symbols: Mapping[str, Signature]) -> None:
        manager = cvc5.TermManager()
        self.solver = cvc5.Solver(manager)
        for name, value in OPTIONS.items():
            self.solver.setOption(name, value)
        self.solver.setLogic("UFLIA")
        self.write = _Writer(manager, symbols)

    def suppose(self, formulas: Iterable[fol.Formula]) -> None:
        for one in formulas:
            self.solver.assertFormula(self.write.formula(one))

    def push(self) -> None:
        self.solver.push()

    def pop(self) -> None:
        self.solver.pop()

    def satisfiable(self) -> Answer:
        found = self.solver.checkSat()
        if found.isUnknown():
            return Answer.UNKNOWN
        return Answer.YES if found.isSat() else Answer.NO

    def values(self, terms: Sequence[fol.Term | fol.Related]) -> list[Value]:
        return [_value(self.solver.getValue(self.write.anything(one))) for one in terms]


def _value(found: Any) -> Value:
    if found.isBooleanValue():
        return bool(found.getBooleanValue())
    return int(found.getIntegerValue()) if found.isIntegerValue() else str(found)


class _Writer(Writer):
    """Writes formulas as cvc5 wants them."""

    def __init__(self, manager: Any, symbols: Mapping[str, Signature]) -> None:
        super().__init__()
        self.manager = manager
        self.sorts: dict[str, Any] = {fol.NUMBER.name: manager.getIntegerSort()}
        self.symbols = {name: self._symbol(name, *signature) for name, signature in symbols.items()}
        self.free: dict[fol.Variable, Any] = {}
        self.bound: dict[fol.Variable, Any] = {}

    def _symbol(self, name: str, arguments: tuple[fol.Sort, ...], result: fol.Sort | None) -> Any:
        gives = self.manager.getBooleanSort() if result is None else self.sort(result)
        takes = [self.sort(one) for one in arguments]
        return self.manager.mkConst(self.manager.mkFunctionSort(takes, gives) if takes else gives, name)

    def sort(self, sort: fol.Sort) -> Any:
        """Give a sort, the same every time."""
        if sort.name not in self.sorts:
            self.sorts[sort.name] = self.manager.mkUninterpretedSort(sort.name)
        return self.sorts[sort.name]

    def _write(self, formula: fol.Formula) -> Any:
        make, kind = self.manager.mkTerm, cvc5.Kind
        match formula:
            case fol.Constant(value):
                return self.manager.mkBoolean(value)
            case fol.Related(name, arguments):
                return self._applied(name, arguments)
            case fol.Equal(left, right):
                return make(kind.EQUAL, self.term(left), self.term(right))
            case fol.AtMost(left, right):
                return make(kind.LEQ, self.term(left), self.term(right))
            case fol.Negation(of):
                return make(kind.NOT, self.formula(of))
            case fol.Conjunction(parts):
                return make(kind.AND, *map(self.formula, parts))
            case fol.Disjunction(parts):
                return make(kind.OR, *map(self.formula, parts))
            case fol.Universal(variable, body):
                return self._quantified(kind.FORALL, variable, body)
            case fol.Existential(variable, body):
                return self._quantified(kind.EXISTS, variable, body)
            case _:
                raise AssertionError(f"{formula} is not a formula")

    def _quantified(self, kind: Any, variable: fol.Variable, body: fol.Formula) -> Any:
        bound = self.manager.mkVar(self.sort(variable.sort), variable.name)
        self.bound[variable] = bound
        listed = self.manager.mkTerm(cvc5.Kind.VARIABLE_LIST, bound)
        return self.manager.mkTerm(kind, listed, self.formula(body))

    def _applied(self, name: str, arguments: tuple[fol.Term, ...]) -> Any:
        symbol = self.symbols[name]
        if not arguments:
            return symbol
        return self.manager.mkTerm(cvc5.Kind.APPLY_UF, symbol, *map(self.term, arguments))

    def term(self, term: fol.Term) -> Any:
        make, kind = self.manager.mkTerm, cvc5.Kind
        match term:
            case fol.Variable():
                return self.bound.get(term) or self._free(term)
            case fol.Applied(name, arguments):
                return self._applied(name, arguments)
            case fol.Number(value):
                return self.manager.mkInteger(value)
            case fol.Sum(parts):
                return make(kind.ADD, *map(self.term, parts)) if len(parts) > 1 else self.term(parts[0])
            case fol.Choice(condition, then, otherwise):
                return make(kind.ITE, self.formula(condition), self.term(then), self.term(otherwise))

    def _free(self, variable: fol.Variable) -> Any:
        if variable not in self.free:
            self.free[variable] = self.manager.mkConst(self.sort(variable.sort), variable.name)
        return self.free[variable]
