"""The functions that the kit names, as the workers of `torch` call them on each other."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from torch.distributed import rpc

handles: Final[dict[str, Any]] = {}
"""What this worker holds, by the kit's names."""
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


def pass_on(rref: Any, to: str) -> Any:
    """Let another worker look at an RRef first."""
    rpc.rpc_sync(to, value_of, args=(rref,))
    return value_of(rref)


def hold(rref: Any, seconds: float) -> bool:
    """Keep an RRef for a while."""
    time.sleep(seconds)
    return rref is not None


def later(rref: Any, seconds: float) -> Any:
    """Give the value of an RRef after a while."""
    time.sleep(seconds)
    return value_of(rref)


def count(key: Any) -> int:
    """Say how often this was called here."""
    with _counting:
        _counts[repr(key)] += 1
        return _counts[repr(key)]


def nest(depth: int, here: str, there: str) -> int:
    """Call to and fro."""
    return 0 if depth == 0 else 1 + int(rpc.rpc_sync(there, nest, args=(depth - 1, there, here)))


def keep(name: str, rref: Any) -> None:
    """Hold an RRef under a name."""
    handles[name] = rref


FUNCTIONS: Final = {
    one.__name__: one for one in (echo, slow, busy, fail, value_of, pass_on, hold, later, count, nest)
}  # fmt: skip


@contextmanager
def only_here(name: str) -> Iterator[Any]:
    """Have a function for a moment that no other worker has: its name is all that travels."""

    def missing(*args: Any) -> None:
        """Do nothing; nobody gets here."""

    module = sys.modules[__name__]
    missing.__qualname__ = missing.__name__ = f"missing_on_all_but_{name}"
    setattr(module, missing.__name__, missing)
    try:
        yield missing
    finally:
        delattr(module, missing.__name__)


class Unreadable:
    """A value that can be written, and that nobody can read."""

    def __reduce__(self) -> Any:
        return _refuse_to_be_read, ()


def _refuse_to_be_read() -> NoReturn:
    raise ValueError("this value cannot be read")
