"""What PyTorch has no way to say by itself: a function that others lack, and a value that nobody can read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


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
