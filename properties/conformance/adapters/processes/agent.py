"""A worker of `farref.impl`, as the conformance kit drives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, Final

from farref.impl import RRef, Settings, api, remote, rpc_sync
from farref.impl.errors import NotRunning, PassRefused, ReferenceRefused, RefusedCall
from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.functions import handles, keep
from farref.properties.conformance.adapters.processes.faults import Faults
from farref.properties.conformance.adapters.processes.functions import FUNCTIONS
from farref.properties.conformance.adapters.processes.gradients import Gradients
from farref.properties.conformance.adapters.torch_like import TorchLikeAgent

LEAVE_S: Final = 6.0


class ProcessesAgent(TorchLikeAgent):
    """One worker."""

    kinds: ClassVar[Mapping[str, tuple[type[BaseException], ...]]] = {
        "refused": (ReferenceRefused, RefusedCall, PassRefused, NotRunning),
    }

    def join(self, life: Life) -> None:
        """Join the world of a directory."""
        log = life.options.get("log")
        settings = Settings(rpc_timeout=float(life.options.get("timeout", 60.0)))
        path = None if log is None else Path(log, f"{life.name}.jsonl")
        place, size = Path(life.directory), len(life.workers)
        api.init_rpc(life.name, life.rank, size, directory=place, settings=settings, log=path)
        self._faults, self.contexts = Faults(), Gradients(life.name)

    def leave(self) -> Sequence[str]:
        """Shut down in good order."""
        left = api.shutdown(timeout=LEAVE_S)
        self.let_go()
        return [] if left.is_empty() else [f"could not release {left}"]

    # -- references ----------------------------------------------------------------------------------------------------

    def create(self, name: str, owner: str, function: str | None, args: Sequence[Any], timeout: float | None) -> None:
        """Make an RRef on an owner, or of a value."""
        if function is None:
            handles[name] = RRef(args[0])
            return
        with self._spoiling(args):
            handles[name] = remote(owner, FUNCTIONS[function], self._given(args), timeout=timeout)

    def share(self, name: str, to: str) -> None:
        """Pass a handle to another worker, which keeps it."""
        rpc_sync(to, keep, [name, self.handle(name)])

    def call(self, to: str, function: str, args: Sequence[Any], timeout: float | None) -> Any:
        """Call a function on another worker."""
        with self._spoiling(args):
            return rpc_sync(to, FUNCTIONS[function], self._given(args), timeout=timeout)

    def counts(self) -> Mapping[str, int]:
        """Say how much the tables hold."""
        tables = api.get_debug_info()
        return {
            "owned": len(tables.entries),
            "forks": sum(len(entry.forks) for entry in tables.entries),
            "pending": sum(not user.confirmed for user in tables.users),
            "children": sum(len(user.children) for user in tables.users),
            "contexts": len(tables.contexts),
            "passes": len(tables.passes) + sum(one.task is not None for one in tables.contexts),
        }

    def fault(self, kind: str, details: Mapping[str, Any]) -> None:
        """Have messages lost, late or twice."""
        self._faults.choose(kind, details)

    def unreadable(self) -> None:
        """Give anything: what makes it unreadable is done to the message."""

    def _given(self, args: Sequence[Any]) -> list[Any]:
        return [self.argument(one) for one in args]

    def _spoiling(self, args: Sequence[Any]) -> Any:
        return self._faults.spoiling() if {"unreadable": True} in args else nullcontext()
