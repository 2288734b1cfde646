"""The functions that the kit names, as the workers of `processes` call them on each other."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from farref.impl import RRef, function, rpc_sync

MISSING: Final = f"{__name__}:missing"
"""The name of a function that nobody has."""

handles: Final[dict[str, RRef]] = {}
"""What this worker holds, by the kit's names."""
_counts: Final[Counter[str]] = Counter()
_counting: Final = threading.Lock()


@function
def echo(value: Any) -> Any:
    """Give the argument back."""
    return value


@function
def slow(seconds: float, value: Any) -> Any:
    """Give a value after a while."""
    time.sleep(seconds)
    return value


@function
def busy(seconds: float) -> bool:
    """Keep the interpreter to oneself, as an extension module may do."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    sys.setswitchinterval(usual)
    return True


@function
def fail(message: str) -> None:
    """Raise an error."""
    raise ValueError(message)


@function
def misuse() -> None:
    """Raise what a library raises."""
    np.zeros(2) + np.zeros(3)


@function
def value_of(rref: RRef) -> Any:
    """Give the value of an RRef, where it is if that is here."""
    return rref.local_value() if rref.is_owner() else rref.to_here()


@function
def pass_on(rref: RRef, to: str) -> Any:
    """Let another worker look at an RRef first."""
    rpc_sync(to, value_of, [rref])
    return value_of(rref)


@function
def hold(rref: RRef, seconds: float) -> bool:
    """Keep an RRef for a while."""
    time.sleep(seconds)
    return isinstance(rref, RRef)


@function
def later(rref: RRef, seconds: float) -> Any:
    """Give the value of an RRef after a while."""
    time.sleep(seconds)
    return value_of(rref)


@function
def count(key: Any) -> int:
    """Say how often this was called here."""
    with _counting:
        _counts[repr(key)] += 1
        return _counts[repr(key)]


@function
def nest(depth: int, here: str, there: str) -> int:
    """Call to and fro."""
    return 0 if depth == 0 else 1 + int(rpc_sync(there, nest, [depth - 1, there, here]))


@function
def keep(name: str, rref: RRef) -> None:
    """Hold an RRef under a name."""
    handles[name] = rref


FUNCTIONS: Final[dict[str, Callable[..., Any] | str]] = {
    "echo": echo,
    "slow": slow,
    "busy": busy,
    "fail": fail,
    "misuse": misuse,
    "value_of": value_of,
    "pass_on": pass_on,
    "hold": hold,
    "later": later,
    "count": count,
    "nest": nest,
    "missing": MISSING,
}
