"""How large a world anybody may ask for: beyond these bounds a mistyped number would be a search without end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Limits = Mapping[str, tuple[int, int]]
"""The smallest and largest value of the bounds that have limits of their own."""

OTHER_LIMITS: Final = (0, 9)

UNCUT: Final = "links break in the model, and beside it on the backends simulated and processes only"
"""What is said to somebody who wants links cut where they cannot be."""

UNVIEWED: Final = "workers are excluded in the model, and beside it on the backends simulated and processes only"
"""What is said to somebody who wants workers excluded where they cannot be."""


def limits_of(name: str, limits: Limits) -> tuple[int, int]:
    """Tell the smallest and the largest value of a bound."""
    return limits.get(name, OTHER_LIMITS)


def outside(values: Mapping[str, object], limits: Limits) -> str | None:
    """Say which number of some bounds is too small or too large; None if none is."""
    for name, value in values.items():
        smallest, largest = limits_of(name, limits)
        if isinstance(value, int) and not isinstance(value, bool) and not smallest <= value <= largest:
            return f"{name} is {value}; allowed is {smallest} to {largest}"
    return None
