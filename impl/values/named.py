"""Values that stand for something of a module: dataclasses, enumerations, named tuples, functions (spec/wire.md, Values).

What travels is the name of the class, and the parts. The receiver finds the class by the rule of functions (`functions`): it
is registered there with `@function`, or is in a module that the receiver allows. Then the value is put together from its parts.
No constructor and no `__post_init__` runs, and no code comes with the value.

A pickle, where both ends allow them, finds its classes itself.

To find a class may import its module, and so run user code. So whoever reads has to know before: a body with such a value in
it is an *envelope* as a whole. Outside of one these values are refused.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import fields
from enum import Enum, Flag
from functools import reduce
from operator import or_
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

from farref.impl.errors import RefusedFunction, RefusedValue, WireError
from farref.impl.functions import name_of
from farref.impl.user_code import entering
from farref.impl.values.telling import in_short

ENVELOPE, DATACLASS, ENUM, NAMEDTUPLE, FUNCTION = range(16, 21)
PLACE_OF_CODE: Final = {0xC7: 2, 0xC8: 3, 0xC9: 5} | dict.fromkeys(range(0xD4, 0xD9), 1)
"""Where an extension of MessagePack has its code, by its first byte."""

Resolve = Callable[[str], Any]


def is_envelope(body: bytes) -> bool:
    """Say whether something in a body has to be found by its name. Nothing of it is read."""
    if not body or body[0] not in PLACE_OF_CODE:
        return False
    place = PLACE_OF_CODE[body[0]]
    return len(body) > place and body[place] == ENVELOPE


def take_apart(value: Any, kind: type) -> tuple[int, list[Any]] | None:
    """Give the code, the name and the parts of a value of such a kind; nothing if it is of no such kind."""
    try:
        return _parts(value, kind)
    except RefusedFunction as error:
        raise RefusedValue(f"a value of type {kind.__module__}.{kind.__qualname__} cannot travel: {error}") from None


def _parts(value: Any, kind: type) -> tuple[int, list[Any]] | None:
    if "__dataclass_fields__" in kind.__dict__:
        entering("writing a dataclass")
        return DATACLASS, [name_of(kind), {field.name: getattr(value, field.name) for field in fields(value)}]
    if issubclass(kind, Flag):
        return ENUM, [name_of(kind), [member.name for member in value]]
    if issubclass(kind, Enum):
        return ENUM, [name_of(kind), [value.name]]
    if _is_namedtuple(kind):
        return NAMEDTUPLE, [name_of(kind), list(value)]
    if kind in (FunctionType, BuiltinFunctionType) or issubclass(kind, type):
        return FUNCTION, [name_of(value), []]
    return None


def unpickled(data: memoryview) -> object:
    """Read a pickle. That runs code of the application, and whatever it raises is the affair of this value alone."""
    entering("reading a pickle")
    try:
        return pickle.loads(data)
    except BaseException as error:
        raise WireError(f"a pickle cannot be read: {in_short(error)}") from error


def put_together(code: int, written: list[Any], resolve: Resolve) -> object:
    """Make a value of its name and its parts. Whatever goes wrong is the affair of this value alone."""
    if len(written) != 2 or not isinstance(written[0], str):
        raise WireError("what has a name is written as that and its parts")
    name, parts = written
    entering("reading a value of a class")
    try:
        found = resolve(name)
        made = _made(code, found, parts)
    except BaseException as error:
        raise WireError(f"a {name.partition(':')[2] or name} cannot be read: {in_short(error)}") from None
    if made is None:
        raise WireError(f"{name} is not what came under its name, or has other parts")
    return made


def _made(code: int, found: Any, parts: Any) -> object:
    if code == FUNCTION:
        return found
    if not isinstance(found, type):
        return None
    if code == DATACLASS and isinstance(parts, dict):
        return _dataclass(found, parts)
    if code == ENUM and isinstance(parts, list) and issubclass(found, Enum):
        return _member(found, parts)
    if code == NAMEDTUPLE and isinstance(parts, list) and _is_namedtuple(found):
        return tuple.__new__(found, parts) if len(parts) == len(found._fields) else None  # type: ignore[attr-defined]
    return None


def _dataclass(kind: type, parts: dict[str, Any]) -> object:
    if "__dataclass_fields__" not in kind.__dict__ or {field.name for field in fields(kind)} != set(parts):
        return None
    made: object = object.__new__(kind)
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def _member(kind: type[Enum], names: list[str]) -> object:
    members = [kind.__members__[name] for name in names]
    if issubclass(kind, Flag):
        return reduce(or_, members, kind(0))
    return members[0] if len(members) == 1 else None


def _is_namedtuple(kind: type) -> bool:
    return issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple)
