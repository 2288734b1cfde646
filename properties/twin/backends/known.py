"""The backends that the command line knows by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from farref.properties.twin.backend import Backend, FreeBackend
from farref.properties.twin.backends.autograd.plans import Storm
from farref.properties.twin.backends.autograd.processes import AutogradProcesses
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend

BACKENDS: Final[dict[str, Callable[[], Backend]]] = {
    "model": ModelBackend,
    "simulated": SimulatedBackend,
    "processes": ProcessesBackend,
}
"""Each gives a backend of RRefs that is not started yet."""

AUTOGRAD_BACKENDS: Final[dict[str, Callable[[], Backend]]] = {
    "model": ModelBackend,
    "simulated": SimulatedAutograd,
    "processes": AutogradProcesses,
}
"""The same for distributed autograd."""

EVERY_BACKEND: Final = {"rref": BACKENDS, "autograd": AUTOGRAD_BACKENDS}
"""The backends of each protocol that are driven in lockstep."""

FREE_BACKENDS: Final[dict[str, dict[str, Callable[[], FreeBackend]]]] = {"rref": {}, "autograd": {"storm": Storm}}
"""Those that run by themselves."""
