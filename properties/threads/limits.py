"""How large a worker anybody may ask for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from farref.model.threads.world import FIRST_THREADS, Bounds
from farref.properties.limits import Limits, outside

LIMITS: Final[Limits] = {"callers": (1, 3), "background": (FIRST_THREADS, 5), "frames": (0, 6), "own": (0, 4)}


def complaint(bounds: Bounds) -> str | None:
    """Say what is wrong with some bounds, and what is allowed; None if nothing is wrong."""
    return outside(asdict(bounds), LIMITS)
