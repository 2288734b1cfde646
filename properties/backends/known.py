"""The backends that the command line knows by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from farref.properties.backends.backend import Backend
from farref.properties.backends.model_backend import ModelBackend
from farref.properties.backends.simulated import SimulatedBackend

BACKENDS: Final[dict[str, Callable[[bool], Backend]]] = {
    "model": lambda _: ModelBackend(),
    "simulated": lambda restless: SimulatedBackend(restless=restless),
}
"""Each gives a backend, restless or not; the model is never restless."""
