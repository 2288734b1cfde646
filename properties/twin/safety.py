"""What must always hold, evaluated on the model's world after every step of a run.

Most of a world is as it was a step ago. So only those cases of a property are looked at that are about something which the
step has touched: what that is, the protocol says (`touched`). A case that is about the whole world is looked at every time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from farref.model.checker.interface import Case, Kind, Property
from farref.properties.protocol import AnyProtocol
from farref.properties.violation import EVERYTHING, Violation


class Safety:
    """The properties of a bounded world that must always hold."""

    def __init__(self, protocol: AnyProtocol, bounds: Any) -> None:
        self.touched = protocol.touched(bounds)
        self._about: dict[str, list[tuple[int, Property, Case]]] = defaultdict(list)
        always = [one for one in protocol.properties(bounds) if one.kind is Kind.ALWAYS]
        for place, one in enumerate(always):
            for case in one.cases:
                self._about[about(case)].append((place, one, case))
        self.names = [name for name in self._about if name != EVERYTHING]

    def violated(self, world: Any, touched: Iterable[str]) -> list[Violation]:
        """List what does not hold in a world in which some things were touched, the most severe first."""
        found = [
            (place, one, case)
            for name in (*touched, EVERYTHING)
            for place, one, case in self._about.get(name, ())
            if not case.holds(world)
        ]
        return [_violation(one, case) for _, one, case in sorted(found, key=lambda each: each[0])]


def about(case: Case) -> str:
    """Say what a case is about: its label ends with it."""
    return case.label.rpartition(": ")[2]


def _violation(one: Property, case: Case) -> Violation:
    return Violation(one.id, one.clause, case.text or one.text, about(case))
