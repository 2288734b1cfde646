"""What the tests of both twins share."""

from __future__ import annotations

from typing import Any

from farref.properties.twin.twin import Twin


def named(twin: Twin, label: str) -> Any:
    """Find the action with a label."""
    return next(action for action in twin.model.actions if str(action) == label)


def steps(twin: Twin, *labels: str) -> None:
    """Take the steps with these labels."""
    for label in labels:
        twin.step(named(twin, label))


def pids(backend: Any) -> list[int]:
    """Give the processes of a backend that has some."""
    return [child.process.pid for child in backend.pool.children]
