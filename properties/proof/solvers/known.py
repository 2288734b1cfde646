"""The solvers there are, by name. A solver that is not installed says so when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from farref.properties.proof.solvers.cvc5_solver import Cvc5
from farref.properties.proof.solvers.solver import Solver
from farref.properties.proof.solvers.z3_solver import Z3

SOLVERS: Final[dict[str, Callable[[], Solver]]] = {"z3": Z3, "cvc5": Cvc5}
