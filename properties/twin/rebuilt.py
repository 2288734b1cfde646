"""Actions and messages about other things than before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any


def rebuilt(thing: Any, change: Callable[[str, Any], Any]) -> Any:
    """Give an action, or a message, with every field changed by name and value; so are the fields of what is in it."""
    changed: dict[str, Any] = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        is_record = is_dataclass(value) and not isinstance(value, type)
        changed[field.name] = rebuilt(value, change) if is_record else change(field.name, value)
    return replace(thing, **changed)
