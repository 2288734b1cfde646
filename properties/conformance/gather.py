"""All checks, in the order of the clauses, and the clauses that no check can see."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from farref.properties.conformance.check import CHECKS, Check


def gathered() -> tuple[Check, ...]:
    """Import every module of checks, and give the checks: RRef before autograd, clause by clause, as they were written."""
    here = Path(__file__).parent
    for path in sorted(here.glob("checks_*.py")):
        importlib.import_module(f"{__package__}.{path.stem}")
    return _prerequisites_first(sorted(CHECKS.values(), key=_place))


def _place(check: Check) -> tuple[int, int]:
    found = re.fullmatch(r"([RA])(\d+)", check.clause)
    assert found is not None, f"{check.id} is about no clause"
    return "RA".index(found[1]), int(found[2])


def _prerequisites_first(checks: list[Check]) -> tuple[Check, ...]:
    """Bring every check behind those that it needs, and otherwise keep the order."""
    by_id = {one.id: one for one in checks}
    ordered: dict[str, Check] = {}

    def enter(check: Check, path: tuple[str, ...]) -> None:
        if check.id in path:
            raise ValueError(f"{' needs '.join((*path, check.id))}")
        for needed in check.after:
            if needed not in by_id:
                raise ValueError(f"{check.id} comes after {needed}, which does not exist")
            enter(by_id[needed], (*path, check.id))
        ordered.setdefault(check.id, check)

    for check in checks:
        enter(check, ())
    return tuple(ordered.values())
