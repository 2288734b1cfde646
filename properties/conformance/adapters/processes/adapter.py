"""The adapter of our own implementation between real processes."""

from __future__ import annotations

from importlib.metadata import version

from farref.properties.conformance.adapters.agents import AgentsAdapter
from farref.properties.conformance.kit.backend import CAPABILITIES


class Adapter(AgentsAdapter):
    """`farref.impl`: it can do all that can be asked."""

    name = "processes"
    version = version("farref")
    capabilities = frozenset(CAPABILITIES)
    agent = "farref.properties.conformance.adapters.processes.agent:ProcessesAgent"
