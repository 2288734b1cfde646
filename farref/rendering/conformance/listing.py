"""The checks of the conformance kit as a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from farref.properties.conformance.kit.available import Availability
from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.document import Level
from farref.properties.conformance.kit.unseen import UNSEEN
from farref.rendering.layout import plain_table


def list_document(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """Give the checks as they are printed for machines."""
    return [
        {
            "id": one.id,
            "clause": one.clause,
            "level": one.level.value,
            "because": one.because,
            "says": one.says,
            "needs": sorted(one.needs),
            "after": list(one.after),
        }
        for one in checks
    ]


def show_backends(page: Console, found: Sequence[Availability]) -> None:
    """Print the backends that are known by name: those that can be judged here, and what the others lack."""
    table = plain_table(header=False)
    for one in found:
        state = f"missing: {one.missing}" if one.missing else "ready"
        advice = f"({one.install})" if one.install else ""
        table.add_row(one.backend, one.version or "", state, advice)
    page.print(table)
    page.print("\nAny other: --backend file.py, --backend module:attribute, or a command after --.")


def show_list(page: Console, checks: Sequence[Check]) -> None:
    """Print the checks for people."""
    table = plain_table(expand=True)
    table.add_column("check", no_wrap=True)
    table.add_column("level", no_wrap=True)
    table.add_column("what must be so", ratio=3)
    table.add_column("needs", ratio=2)
    for one in checks:
        table.add_row(one.id, one.level.value, one.says, ", ".join(sorted(one.needs)))
    page.print(table)
    page.print("\nLevels: a check is a must because the rule of its clause binds. The others:")
    for level, because in dict.fromkeys((one.level, one.because) for one in checks if one.level is not Level.MUST):
        those = ", ".join(one.id for one in checks if (one.level, one.because) == (level, because))
        page.print(f"{level.value}: {because} ({those})", soft_wrap=True)
    page.print("\nClauses that no check can look at:")
    for clause, why in UNSEEN.items():
        page.print(f"{clause}: {why}", soft_wrap=True)
