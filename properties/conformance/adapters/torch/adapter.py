"""The adapter of PyTorch's RPC, distributed autograd and optimizer, over TensorPipe."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from farref.properties.conformance.adapters.agents import AgentsAdapter
from farref.properties.conformance.kit.backend import CAPABILITIES

CANNOT: Final = {
    "probe.children",
    "fault.lose",
    "fault.delay",
    "fault.duplicate",
    "fault.cut",
    "fault.restart",
    "silence",
    "reclaims",
    "smart",
    "traced",
    "lockstep",
}
"""It does not show its pending children, has no faults to choose, no SMART mode and no logs, and takes nobody for dead. What it
sends arrives by itself, so nobody can say which message is next."""


class Adapter(AgentsAdapter):
    """`torch.distributed.rpc` as it comes."""

    name = "torch"
    version = version("torch").partition("+")[0]
    capabilities = (frozenset(CAPABILITIES) - CANNOT) | {"several"}
    agent = "farref.properties.conformance.adapters.torch.agent:TorchAgent"
