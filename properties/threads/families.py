"""What a predicate about threads can speak of: a thread of the application, or one of the background."""

from __future__ import annotations

from collections.abc import Callable

from farref.model.threads.world import Bounds, ThreadId, World
from farref.properties.build import Family, family


def per_caller(predicate: Callable[[World, ThreadId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each thread of the application."""
    return family(predicate, lambda bounds: [(f"thread {one}", one) for one in bounds.caller_ids])


def per_background(predicate: Callable[[World, ThreadId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each background thread."""
    return family(predicate, lambda bounds: [(f"thread {one}", one) for one in bounds.background_ids])


def thread_name(thread: int, bounds: Bounds) -> str:
    """Name a thread as the stories do."""
    if thread == 0:
        return "main"
    return f"caller{thread}" if thread < bounds.callers else f"background{thread - bounds.callers}"
