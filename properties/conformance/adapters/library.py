"""A backend in Python with PyTorch's names, as far as what runs on its workers needs it.

`processes` and `torch` differ in where they import it from, and in little else. What runs on a worker is called by name from
other workers, so it finds its backend here: a worker's process has one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Library:
    """What a backend has for the things that its workers need."""

    rref: Callable[[Any], Any]
    remote: Callable[..., Any]
    rpc_sync: Callable[..., Any]
    leaf: Callable[[float, bool], Any]
    """Makes a leaf of a value: one of the class for parameters, if it is to be one."""
    hooked: Callable[[Any, Callable[[Any], None]], Any]
    """Gives a value whose backward does something first."""
    no_grad: Callable[[], AbstractContextManager[Any]]
    optimizer: Callable[..., Any]
    """Makes a distributed optimizer of a class, some references and a rate."""
    sgd: type
    own_sgd: type
    """An optimizer of the application's own, which the backend does not know."""
    get_gradients: Callable[[Any], Any]


_bound: Final[list[Library]] = []


def bind(library: Library) -> None:
    """Say which backend this process has."""
    _bound[:] = [library]


def library() -> Library:
    """Give the backend of this process."""
    return _bound[0]
