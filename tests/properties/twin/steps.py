"""What the tests of both twins share."""

from __future__ import annotations

from typing import Any

from farref.properties.twin.twin import Twin


def named(twin: Twin, label: str) -> Any:
    """Find the action with a label."""
    return next(action for action in twin.model.actions if str(action) == label)
