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
from farref.properties.twin.backends.rref.storm.backend import RRefStorm

BACKENDS: Final[dict[str, dict[str, Callable[[], Backend]]]] = {
    "rref": {"model": ModelBackend, "simulated": SimulatedBackend, "processes": ProcessesBackend},
    "autograd": {"model": ModelBackend, "simulated": SimulatedAutograd, "processes": AutogradProcesses},
}
"""The backends of each protocol that are driven in lockstep: each entry gives one that is not started yet."""

FREE_BACKENDS: Final[dict[str, dict[str, Callable[[], FreeBackend]]]] = {
    "rref": {"storm": RRefStorm},
    "autograd": {"storm": Storm},
}
"""Those that run by themselves."""
