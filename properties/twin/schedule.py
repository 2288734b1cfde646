"""A schedule: one run before it is taken."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Schedule:
    """One schedule before it is run: everything about it follows from its seed and number."""

    seed: int
    number: int
    bounds: Any
    restless: bool
    eagerness: tuple[tuple[str, float], ...]
    late: tuple[str, ...]  # the kinds of message that it keeps back

    def random(self) -> Random:
        """Give the source of its steps."""
        return Random(f"{self.seed}/{self.number}/steps")
