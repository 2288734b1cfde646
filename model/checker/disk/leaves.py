"""Values of leaves as JSON, and back. A file can name enumerations and records that are there already, and nothing else."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Any

from farref.model.checker.interface import ModelError
from farref.model.checker.shapes import is_record


def written(value: Any) -> Any:
    """Turn a value into JSON."""
    if isinstance(value, Enum):
        return {"enum": _place(type(value)), "name": value.name}
    if is_record(value):
        return {"record": _place(type(value)), "parts": [written(part) for part in value]}
    if type(value) in (tuple, frozenset):
        return {type(value).__name__: [written(part) for part in value]}
    if value is None or isinstance(value, bool | int | str):
        return value
    raise ModelError(f"a state has {value!r}, and a search on disk can keep no such value")


def read(value: Any) -> Any:
    """Turn JSON back into the value."""
    match value:
        case {"enum": place, "name": name}:
            return _class(place, Enum)[name]
        case {"record": place, "parts": parts}:
            return _class(place, tuple)._make(map(read, parts))
        case {"tuple": parts}:
            return tuple(map(read, parts))
        case {"frozenset": parts}:
            return frozenset(map(read, parts))
        case _:
            return value


def _place(class_: type) -> str:
    return f"{class_.__module__}:{class_.__qualname__}"


def _class(place: str, kind: type) -> Any:
    module, _, name = place.partition(":")
    found = getattr(sys.modules.get(module), name, None)
    if not isinstance(found, type) or not issubclass(found, kind):
        raise ModelError(f"the search was saved with a kind of value that this model does not have: {place}")
    return found
