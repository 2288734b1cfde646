"""A property that was seen violated in one world, or in what an implementation shows."""

from __future__ import annotations

from typing import Final, NamedTuple

EVERYTHING: Final = "the whole world"
"""What a property is about that is about no fork, worker or pass in particular."""


class Violation(NamedTuple):
    """A property that does not hold, and for whom."""

    property: str
    clause: str
    text: str
    about: str

    def __str__(self) -> str:
        return f"{self.property} ({self.clause}) is violated for {self.about}: {self.text}"
