"""The adapter of PyTorch with the fault-injecting agent of its own tests, which is part of the wheel.

That agent takes its faults as options, and fails or delays *every* message of a kind: the first `times` attempts to send each
of them, before anything is sent. So a fault starts the world again with those options. Nobody can tell as long as no worker
holds anything; later than that a fault is refused. A delay holds up the thread that sends the message: nothing that the same
thread sends later can overtake it, so a check about overtaking asks little of this backend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from farref.properties.conformance.adapters.torch import adapter as adapter_torch

FAULTS: Final = ("lose", "delay")


class Adapter(adapter_torch.Adapter):
    """`torch.distributed.rpc` over FAULTY_TENSORPIPE."""

    name = "torch-faulty"
    capabilities = adapter_torch.Adapter.capabilities | {f"fault.{kind}" for kind in FAULTS}
    agent = "farref.properties.conformance.adapters.torch_faulty.agent:FaultyTorchAgent"

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        self._begun: tuple[Sequence[str], Mapping[str, Any]] = ((), {})

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Start a world without faults."""
        self._faults, self._begun = {}, (workers, options)
        super().start(workers, options)

    def options(self, worker: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give a worker its faults."""
        return {**options, "faults": self._faults.get(worker, [])}

    def fault(self, kind: str, worker: str, details: Mapping[str, Any]) -> None:
        """Start the world again with one more fault."""
        if kind not in FAULTS:
            super().fault(kind, worker, details)
            return
        if any(self.ask(one, "holds_anything") for one in self._begun[0]):
            raise NotImplementedError("this agent takes its faults as it starts: choose them before anything is held")
        self._faults.setdefault(worker, []).append((kind, details))
        self._end()
        super().start(*self._begun)
