"""What stays in a process between two units: a backend with processes of its own takes longer to start than a unit lasts.

One thing is kept. Whoever needs another one closes it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar


class Closing(Protocol):
    """Something that gives back what it has taken."""

    def close(self) -> None:
        """Give it back."""


Thing = TypeVar("Thing", bound=Closing)

_kept: Final[dict[Hashable, Any]] = {}


@contextmanager
def keeping(key: Hashable, make: Callable[[], Thing]) -> Iterator[Thing]:
    """Use what is kept under this key, or make it. After an error it is in an unknown state, and is closed."""
    if key not in _kept:
        release()
        _kept[key] = make()
    try:
        yield _kept[key]
    except BaseException:
        release()
        raise


def release() -> None:
    """Close what is kept."""
    while _kept:
        _, thing = _kept.popitem()
        thing.close()
