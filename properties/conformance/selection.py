"""Choose checks by what a user calls them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from farref.properties.conformance.check import Check


class UnknownCheckError(Exception):
    """No check and no clause has this id; the message says which there are."""


def chosen(checks: Sequence[Check], names: Collection[str]) -> tuple[Check, ...]:
    """Choose checks by their ids or by their clauses, however they are spelled; without names all."""
    wanted = {name.lower() for name in names}
    found = [one for one in checks if not wanted or {one.id.lower(), one.clause.lower()} & wanted]
    known = {name.lower() for one in found for name in (one.id, one.clause)}
    if missing := [name for name in names if name.lower() not in known]:
        there = ", ".join(dict.fromkeys(one.clause for one in checks))
        raise UnknownCheckError(f"no check is about {missing[0]!r}; there are checks of {there} (--list)")
    return tuple(found)
