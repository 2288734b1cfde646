"""A worker of `torch.distributed.rpc` on the agent that PyTorch's own tests have for faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from torch.distributed import rpc
from torch.distributed.rpc import _testing  # noqa: F401 (it registers the backend)

from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.functions import handles
from farref.properties.conformance.adapters.torch.agent import TorchAgent

NAMES: Final = {
    "ForkRequest": "RREF_FORK_REQUEST",
    "ChildAccept": "RREF_CHILD_ACCEPT",
    "UserDelete": "RREF_USER_DELETE",
    "RemoteCall": "PYTHON_REMOTE_CALL",
    "FetchCall": "PYTHON_RREF_FETCH_CALL",
    "CleanupContext": "CLEANUP_AUTOGRAD_CONTEXT_REQ",
}
"""What the messages of the spec are called there."""


class FaultyTorchAgent(TorchAgent):
    """One worker. Its faults are options of the backend, so they are there from the beginning."""

    def holds_anything(self) -> bool:
        """Say whether something would be lost if this worker began anew."""
        return bool(handles or self.opened)

    def backend(self, life: Life) -> dict[str, Any]:
        """Choose the faulty backend, and its faults."""
        faults: Sequence[tuple[str, Mapping[str, Any]]] = life.options.get("faults", ())
        lost = [details for kind, details in faults if kind == "lose"]
        options = rpc.backend_registry.construct_rpc_backend_options(
            rpc.backend_registry.BackendType["FAULTY_TENSORPIPE"],
            init_method=f"file://{life.directory}/rendezvous",
            rpc_timeout=float(life.options.get("timeout", 60.0)),
            num_worker_threads=rpc.constants.DEFAULT_NUM_WORKER_THREADS,
            messages_to_fail=[NAMES[details["message"]] for details in lost],
            messages_to_delay={NAMES[one["message"]]: float(one["seconds"]) for kind, one in faults if kind == "delay"},
            num_fail_sends=max((int(details.get("times", 1)) for details in lost), default=0),
        )
        return {"backend": rpc.backend_registry.BackendType["FAULTY_TENSORPIPE"], "rpc_backend_options": options}
