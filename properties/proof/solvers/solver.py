"""What is asked of a solver, whoever wrote it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Protocol

from farref.properties.proof.logic.formulas import Formula, Related, Sort, Term

MILLISECONDS_MAX: Final = 5_000
"""How long a question may take. After that nothing is known."""

Signature = tuple[tuple[Sort, ...], Sort | None]
"""What a symbol is between, and what it gives: a thing of a sort, or for a relation nothing."""

Value = bool | int | str
"""What a question about a state found is answered with. Things other than numbers have names."""


class Answer(Enum):
    """Whether some formulas can be true together."""

    YES = "sat"
    NO = "unsat"
    UNKNOWN = "unknown"


class SolverMissing(Exception):  # noqa: N818 (nothing went wrong: it is not there)
    """A solver is not installed; the message says how to get it."""


class Session(Protocol):
    """A conversation with a solver, in which hypotheses pile up."""

    def suppose(self, formulas: Iterable[Formula]) -> None:
        """Add hypotheses."""

    def push(self) -> None:
        """Remember which hypotheses there are."""

    def pop(self) -> None:
        """Forget the hypotheses that were added since."""

    def satisfiable(self) -> Answer:
        """Ask whether all hypotheses can be true together."""

    def values(self, terms: Sequence[Term | Related]) -> list[Value]:
        """Look terms up in the state that was just found to be possible."""


class Solver(Protocol):
    """A solver that can be talked to."""

    name: str

    def session(self, symbols: Mapping[str, Signature]) -> Session:
        """Begin a conversation about some relations and functions."""


class Writer(ABC):
    """Writes formulas as a solver wants them. What was written is kept: clauses are asked about again and again."""

    def __init__(self) -> None:
        self.written: dict[int, tuple[Formula, Any]] = {}

    def anything(self, one: Term | Related) -> Any:
        """Write a term, or whether a relation holds."""
        return self.formula(one) if isinstance(one, Formula) else self.term(one)

    def formula(self, formula: Formula) -> Any:
        """Write a formula."""
        if id(formula) not in self.written:
            self.written[id(formula)] = (formula, self._write(formula))
        return self.written[id(formula)][1]

    @abstractmethod
    def term(self, term: Term) -> Any:
        """Write a term."""

    @abstractmethod
    def _write(self, formula: Formula) -> Any:
        """Write a formula that was not written before."""
