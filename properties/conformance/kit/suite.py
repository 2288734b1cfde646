"""All checks, in the order in which they are run."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Sequence
from functools import cache

from farref.properties.conformance import checks
from farref.properties.conformance.kit.check import CHECKS, RENAMED, Check


class UnknownCheckError(Exception):
    """No check and no clause has this id; the message says which there are."""


@cache
def gathered() -> dict[str, Check]:
    """Import the modules of checks, and give all checks by id."""
    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    return CHECKS


def suite(clauses: Sequence[str]) -> tuple[Check, ...]:
    """Give all checks in the order of their clauses, each after those without which it says nothing."""
    place = {clause: number for number, clause in enumerate(clauses)}
    waiting = sorted(gathered().values(), key=lambda one: place[one.clause])
    ordered: dict[str, Check] = {}
    while waiting:
        ready = [one for one in waiting if all(before in ordered for before in one.after)]
        if not ready:
            raise ValueError(f"checks wait for each other: {', '.join(one.id for one in waiting)}")
        ordered[ready[0].id] = ready[0]
        waiting.remove(ready[0])
    return tuple(ordered.values())


def chosen(checks: Sequence[Check], names: Collection[str]) -> tuple[Check, ...]:
    """Choose checks by their ids or by their clauses, however they are spelled; without names all."""
    names = [RENAMED.get(name, name) for name in names]
    wanted = {name.lower() for name in names}
    found = [one for one in checks if not wanted or {one.id.lower(), one.clause.lower()} & wanted]
    known = {name.lower() for one in found for name in (one.id, one.clause)}
    if missing := [name for name in names if name.lower() not in known]:
        there = ", ".join(dict.fromkeys(one.clause for one in checks))
        raise UnknownCheckError(f"no check is about {missing[0]!r}; there are checks of {there} (--list)")
    return tuple(found)
