"""The adapter of our own implementation between real processes."""

from __future__ import annotations

from importlib.metadata import version

from farref.properties.conformance.adapters.agents import AgentsAdapter
from farref.properties.conformance.adapters.reasons import REASONS
from farref.properties.conformance.kit.backend import CAPABILITIES


class Adapter(AgentsAdapter):
    """`farref.impl`: it can do all that can be asked, but for what it gives reasons for."""

    name = "processes"
    version = version("farref")
    capabilities = frozenset(CAPABILITIES) - frozenset(REASONS)
    reasons = REASONS
    agent = "farref.properties.conformance.adapters.processes.agent:ProcessesAgent"
