"""The adapter of our own implementation between real processes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import ClassVar

from farref.properties.conformance.adapters.agents import AgentsAdapter
from farref.properties.conformance.adapters.reasons import REASONS
from farref.properties.conformance.kit.backend import CAPABILITIES


class Adapter(AgentsAdapter):
    """`farref.impl`: it can do all that can be asked of real processes."""

    name = "processes"
    version = version("farref")
    reasons: ClassVar[Mapping[str, str]] = {"lockstep": REASONS["lockstep"]}
    capabilities = (frozenset(CAPABILITIES) - frozenset(reasons)) | {"several"}
    agent = "farref.properties.conformance.adapters.processes.agent:ProcessesAgent"
