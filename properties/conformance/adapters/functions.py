"""The functions that the kit names, for workers in Python whose RRefs have PyTorch's methods, and what such a worker holds.

They are called by name from other workers, so what they hold has its place in this module.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from typing import Any, Final

from farref.properties.conformance.adapters.library import library

handles: Final[dict[str, Any]] = {}
"""What this worker holds, by the kit's names."""
leaves: Final[dict[str, Any]] = {}
"""The leaves that this worker has."""
heirloom_of: Final[dict[str, str]] = {"worker": ""}
"""Workers are forks of a process that has imported this: it was there before any of them."""
_counts: Final[Counter[str]] = Counter()
_counting: Final = threading.Lock()


def echo(value: Any) -> Any:
    """Give the argument back."""
    return value


def slow(seconds: float, value: Any) -> Any:
    """Give a value after a while."""
    time.sleep(seconds)
    return value


def busy(seconds: float) -> bool:
    """Keep the interpreter to oneself, as an extension module may do."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    sys.setswitchinterval(usual)
    return True


def fail(message: str) -> None:
    """Raise an error."""
    raise ValueError(message)


def value_of(rref: Any) -> Any:
    """Give the value of an RRef, where it is if that is here."""
    return rref.local_value() if rref.is_owner() else rref.to_here()


def hold(rref: Any, seconds: float) -> bool:
    """Keep an RRef for a while."""
    time.sleep(seconds)
    return hasattr(rref, "to_here")


def later(rref: Any, seconds: float) -> Any:
    """Give the value of an RRef after a while."""
    time.sleep(seconds)
    return value_of(rref)


def heirloom() -> str:
    """Give what was there before the workers were, as this one has it."""
    return heirloom_of["worker"]


def count(key: Any) -> int:
    """Say how often this was called here."""
    with _counting:
        _counts[repr(key)] += 1
        return _counts[repr(key)]


def witness(key: Any, *rrefs: Any) -> list[Any]:
    """Leave a trace that this was called, then give the values of some RRefs."""
    count(key)
    return [value_of(rref) for rref in rrefs]


def unwritable() -> Any:
    """Give what no message can carry."""
    return threading.Lock()


def pass_on(rref: Any, to: str) -> Any:
    """Let another worker look at an RRef first."""
    library().rpc_sync(to, value_of, args=(rref,))
    return value_of(rref)


def nest(depth: int, here: str, there: str) -> int:
    """Call to and fro."""
    return 0 if depth == 0 else 1 + int(library().rpc_sync(there, nest, args=(depth - 1, there, here)))


def keep(name: str, rref: Any) -> None:
    """Hold an RRef under a name."""
    handles[name] = rref


FUNCTIONS: Final = {
    one.__name__: one
    for one in (echo, slow, busy, fail, value_of, hold, later, count, heirloom, witness, unwritable, pass_on, nest)
}
