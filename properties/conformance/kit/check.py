"""Checks: what the kit does with a backend in order to see whether it keeps a clause.

A check is a function of a `World`. It returns if the clause was kept, raises `ClauseBroken` if it was not, and lets everything
else through: an operation that fails where it should not, and one that hangs, break the clause as well. Its docstring says
in one sentence what must be so.

Checks are gathered from the modules of `checks`, and are run in the order of the clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from farref.properties.conformance.kit.backend import CAPABILITIES
from farref.properties.conformance.kit.document import Level
from farref.properties.conformance.kit.world import World

THREE: Final = ("A", "B", "C")


@dataclass(frozen=True)
class Check:
    """One way to see whether a clause is kept."""

    id: str
    says: str
    level: Level
    because: str
    """Why it has this level."""
    needs: frozenset[str]
    after: tuple[str, ...]
    workers: tuple[str, ...]
    options: tuple[tuple[str, float], ...]
    """Options of `start`."""
    alone: bool
    """Whether what it does to its world leaves nothing for the next check."""
    run: Callable[[World], None]

    @property
    def clause(self) -> str:
        """The clause that it is about."""
        return self.id.partition(".")[0]


BINDS: Final = "the rule of the clause binds"
"""Why a check is a must, unless it says something else."""

RENAMED: Final = {"R16.twice": "R26.twice"}
"""What checks were called before. The old names still choose them, and expectations may use them."""

CHECKS: Final[dict[str, Check]] = {}
"""All checks, by id."""


def check(
    id_: str,
    *,
    needs: Iterable[str],
    after: Iterable[str] = (),
    should: str = "",
    may: str = "",
    workers: Iterable[str] = THREE,
    alone: bool = False,
    **options: float,
) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    """Make a function a check. `needs` names capabilities, `after` the checks without which this one says nothing.

    What it looks at must be so, unless a reason is given why it only should be, or may be.
    """
    level = Level.MAY if may else Level.SHOULD if should else Level.MUST
    unknown = set(needs) - set(CAPABILITIES)
    if unknown:
        raise ValueError(f"{id_} needs {', '.join(sorted(unknown))}, which no backend can declare")

    def enter(function: Callable[[World], None]) -> Callable[[World], None]:
        if id_ in CHECKS:
            raise ValueError(f"there are two checks called {id_}")
        if not function.__doc__:
            raise ValueError(f"{id_} does not say what must be so")
        says = " ".join(function.__doc__.split())
        CHECKS[id_] = Check(
            id_, says, level, may or should or BINDS, frozenset(needs), tuple(after), tuple(workers),
            tuple(options.items()), alone, function,
        )  # fmt: skip
        return function

    return enter
