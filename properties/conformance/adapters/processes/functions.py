"""The functions that the kit names, as the workers of `processes` call them on each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from farref.impl import RRef, function, rpc_sync
from farref.properties.conformance.adapters import functions
from farref.properties.conformance.adapters.functions import value_of

MISSING: Final = f"{__name__}:missing"
"""The name of a function that nobody has."""

for _common in (*functions.FUNCTIONS.values(), functions.keep):
    function(_common)


@function
def misuse() -> None:
    """Raise what a library raises."""
    np.zeros(2) + np.zeros(3)


@function
def pass_on(rref: RRef, to: str) -> Any:
    """Let another worker look at an RRef first."""
    rpc_sync(to, value_of, [rref])
    return value_of(rref)


@function
def nest(depth: int, here: str, there: str) -> int:
    """Call to and fro."""
    return 0 if depth == 0 else 1 + int(rpc_sync(there, nest, [depth - 1, there, here]))


FUNCTIONS: Final[dict[str, Callable[..., Any] | str]] = {
    **functions.FUNCTIONS,
    "misuse": misuse,
    "pass_on": pass_on,
    "nest": nest,
    "missing": MISSING,
}
