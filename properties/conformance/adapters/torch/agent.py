"""A worker of `torch.distributed.rpc`, as the conformance kit drives it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch.distributed import autograd, rpc

from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.functions import FUNCTIONS
from farref.properties.conformance.adapters.library import bind
from farref.properties.conformance.adapters.torch.functions import Unreadable, only_here
from farref.properties.conformance.adapters.torch.library import LIBRARY, ContextThread
from farref.properties.conformance.adapters.torch_like import TorchLikeAgent

bind(LIBRARY)

LEAVE_S: Final = 6.0

KINDS: Final = {
    "timeout": r"RPC ran for more than|RRef creation via rpc.remote\(\) timed out|Wait timeout|timed out in _all_gather",
    "dead": r"originated at tensorpipe|Connection reset|Broken pipe",
    "refused": r"can't call localValue|after deletion|RPC is no longer running|RPC has not been initialized",
    "unknown": r"could not find destination|Could not find autograd context",
}
"""PyTorch raises RuntimeError for nearly everything; what kind of failure it was, its text says."""


class TorchAgent(TorchLikeAgent):
    """One worker."""

    def join(self, life: Life) -> None:
        """Join the world of a directory."""
        torch.set_num_threads(1)
        rpc.api._ignore_rref_leak = False  # let it say what it could not release
        rpc.init_rpc(life.name, rank=life.rank, world_size=len(life.workers), **self.backend(life))
        self.enter(life.name)

    def backend(self, life: Life) -> dict[str, Any]:
        """Choose the backend of RPC and its options."""
        options = rpc.TensorPipeRpcBackendOptions(
            init_method=f"file://{life.directory}/rendezvous", rpc_timeout=float(life.options.get("timeout", 60.0))
        )
        return {"backend": rpc.BackendType.TENSORPIPE, "rpc_backend_options": options}

    def leave(self) -> Sequence[str]:
        """Shut down in good order."""
        try:
            rpc.shutdown(graceful=True, timeout=LEAVE_S)
        except RuntimeError as error:
            leaked = re.findall(r"Leaking RRef.*", str(error))
            if not leaked:
                raise
            return leaked
        finally:
            self.let_go()
        return []

    def describe(self, error: BaseException) -> dict[str, str]:
        """Say what kind of failure an exception is: by its text if it is one of PyTorch's own."""
        said = super().describe(error)
        if type(error) is RuntimeError:
            kind = next((kind for kind, text in KINDS.items() if re.search(text, str(error))), said["kind"])
            return {**said, "kind": kind}
        return said

    def open_context(self) -> ContextThread:
        """Open a context."""
        return ContextThread()

    def elsewhere(self, context: int) -> ContextThread:
        """Refuse what PyTorch cannot do."""
        raise NotImplementedError(
            "a context of PyTorch belongs to a thread: only the worker that opened it takes steps"
        )

    def backward(self, context: Any, places: Any, steps: Any, roots: Sequence[str], mode: str, *how: Any) -> None:
        """Take steps in a context, then go back from some roots, if PyTorch can do that."""
        if roots and (mode != "fast" or how[-1] is not None):
            raise NotImplementedError("PyTorch has FAST only, and its passes have no timeout of their own")
        super().backward(context, places, steps, roots, mode, *how)

    def go_back(self, context: int, roots: Sequence[Any], mode: str, retain: bool, timeout: float | None) -> None:
        """Take a backward pass."""
        del mode, timeout
        autograd.backward(context, roots, retain_graph=retain)

    def counts(self) -> Mapping[str, int]:
        """Say how much the tables hold."""
        references, passes = rpc._rref_context_get_debug_info(), autograd._get_debug_info()
        return {
            "owned": int(references["num_owner_rrefs"]),
            "forks": int(references["num_forks"]),
            "pending": int(references["num_pending_users"]),
            "contexts": int(passes["num_autograd_contexts"]),
            "passes": int(passes["num_current_backward_passes"]),
        }

    def unreadable(self) -> Unreadable:
        """Make a value that can be written, and that nobody can read."""
        return Unreadable()

    def seconds(self, timeout: float | None) -> float:
        """Give a timeout as PyTorch has it."""
        return -1.0 if timeout is None else timeout

    @contextmanager
    def calling(self, name: str, args: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
        """Give a function and its arguments."""
        given = tuple(self.argument(one) for one in args)
        if name == "missing":
            with only_here(self.name) as missing:
                yield missing, given
        elif name == "misuse":
            yield torch.add, (torch.ones(2), torch.ones(3))
        else:
            yield FUNCTIONS[name], given
