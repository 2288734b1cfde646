"""The functions that the kit names, as the workers of `torch` call them on each other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from torch.distributed import rpc

from farref.properties.conformance.adapters import functions
from farref.properties.conformance.adapters.functions import value_of


def pass_on(rref: Any, to: str) -> Any:
    """Let another worker look at an RRef first."""
    rpc.rpc_sync(to, value_of, args=(rref,))
    return value_of(rref)


def nest(depth: int, here: str, there: str) -> int:
    """Call to and fro."""
    return 0 if depth == 0 else 1 + int(rpc.rpc_sync(there, nest, args=(depth - 1, there, here)))


FUNCTIONS: Final = {**functions.FUNCTIONS, "pass_on": pass_on, "nest": nest}


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
