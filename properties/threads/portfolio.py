"""The standard portfolio of the threads of a worker, small to large. Together they use every action, and need every rule."""

from __future__ import annotations

from typing import Final

from farref.model.threads.world import Bounds
from farref.properties.protocol import Configuration

ONE_CALL: Final = Bounds(callers=1, background=2, frames=1, tasks=0)

PORTFOLIO: Final = (
    Configuration(
        "an interrupted call",
        Bounds(callers=1, background=2, frames=1, tasks=0, interrupts=1),
        "a caller and the leader, and an interrupt anywhere",
    ),
    Configuration(
        "a call of oneself",
        Bounds(callers=1, background=2, frames=0, own=1, tasks=0),
        "a task that another thread queues, and a future that another thread settles",
    ),
    Configuration(
        "three frames",
        Bounds(callers=2, background=2, frames=3, tasks=0, waits=False),
        "frames that are left to whoever reads, again and again",
    ),
    Configuration(
        "calls from elsewhere",
        Bounds(callers=1, background=3, frames=0, tasks=2, spawn_failures=1),
        "functions that may take for ever, and a system that may refuse to start a thread",
    ),
    Configuration(
        "a call among calls",
        Bounds(callers=1, background=2, frames=1, tasks=2),
        "a caller that reads calls of others, and results that wait for each other",
    ),
    Configuration(
        "two callers",
        Bounds(callers=2, background=2, frames=2, tasks=0),
        "a line, and whoever reads for both",
    ),
    Configuration(
        "one call, to its end",
        ONE_CALL,
        "no run goes round for ever",
    ),
)
