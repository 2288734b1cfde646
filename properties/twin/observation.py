"""Observations in lines, one for each fact, so that two of them can be compared line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol


class MessageView(Protocol):
    """A message, under way or unanswered."""

    @property
    def label(self) -> str:
        """What it says."""

    @property
    def source(self) -> str:
        """Where it comes from."""

    @property
    def target(self) -> str:
        """Where it goes to."""


def said(view: Any, *left_out: str) -> str:
    """Say a view in one line: each field that says anything, and is not left out."""
    known = [(name, getattr(view, name)) for name in view.__struct_fields__ if name not in left_out]
    return ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in known if _says_something(value))


def unanswered_lines(messages: Iterable[MessageView]) -> list[str]:
    """Say who waits for an answer to which message."""
    return [f"{one.source} waits for an answer from {one.target}: {one.label}" for one in messages]


def flying_lines(messages: Iterable[MessageView]) -> list[str]:
    """Say what is under way."""
    return [f"in flight from {one.source} to {one.target}: {one.label}" for one in messages]


def plain_lines(seen: Any) -> list[str]:
    """Write whatever a backend of one's own shows as lines: one for each key or element, if there are such."""
    match seen:
        case Mapping():
            return [f"{key}: {value}" for key, value in seen.items()]
        case list() | tuple() | set() | frozenset():
            return [str(one) for one in seen]
        case _:
            return [repr(seen)]


def difference(model: Any, other: Any, name: str, lines: Callable[[Any], list[str]]) -> list[str]:
    """List what only the model has and what only the other has, each line with whose it is."""
    expected, found = lines(model), lines(other)
    width = max(len("model"), len(name))
    only_model = [f"{'model':{width}}  {line}" for line in expected if line not in found]
    only_one = only_model + [f"{name:{width}}  {line}" for line in found if line not in expected]
    if not only_one and model != other:
        return [f"{name:{width}}  has the same facts, but not as often or in this order"]
    return only_one


def _says_something(value: object) -> bool:
    return value is not None and value is not False and value not in ((), "none")


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(_pair(*one) if isinstance(one, tuple) else str(one) for one in value)
    return "yes" if value is True else str(value)


def _pair(name: str, of: object) -> str:
    """Say how many there are of something, or where it is."""
    return f"{name}:{of}" if isinstance(of, int) else f"{name}@{of}"
