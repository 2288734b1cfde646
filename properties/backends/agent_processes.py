"""A worker of `farref.impl`, as the conformance kit drives it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, Final

from farref.impl import RRef, Settings, api, remote, rpc_sync
from farref.impl.engine.ids import ContextId
from farref.impl.errors import NotRunning, PassRefused, ReferenceRefused, RefusedCall
from farref.properties.backends.agent import Agent, Life
from farref.properties.backends.faults_processes import Faults
from farref.properties.backends.functions_processes import FUNCTIONS, handles, keep
from farref.properties.backends.gradients_processes import Gradients, leaves

LEAVE_S: Final = 6.0


class ProcessesAgent(Agent):
    """One worker. What it holds is in `functions_processes`, where calls of others find it."""

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
        self._faults, self._gradients = Faults(), Gradients(life.name)

    def leave(self) -> Sequence[str]:
        """Shut down in good order."""
        left = api.shutdown(timeout=LEAVE_S)
        handles.clear()
        leaves.clear()
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
        rpc_sync(to, keep, [name, self._handle(name)])

    def drop(self, name: str) -> None:
        """Let go of a handle, or of a context."""
        if name in self._gradients:
            self._gradients.release(name)
        else:
            self._handle(name)
            del handles[name]

    def fetch(self, name: str, timeout: float | None) -> Any:
        """Fetch the value of a handle, or of a leaf."""
        return leaves[name].item() if name in leaves else self._handle(name).to_here(timeout)

    def call(self, to: str, function: str, args: Sequence[Any], timeout: float | None) -> Any:
        """Call a function on another worker."""
        with self._spoiling(args):
            return rpc_sync(to, FUNCTIONS[function], self._given(args), timeout=timeout)

    def open(self, context: str) -> ContextId:
        """Open an autograd context."""
        return self._gradients.open(context)

    def backward(self, context: ContextId, *program: Any) -> None:
        """Take steps in a context, and go back."""
        self._gradients.run(context, *program)

    def gradients(self, context: ContextId) -> Mapping[str, float]:
        """Give the gradients here."""
        return self._gradients.found(context)

    def probe(self, name: str | None) -> Mapping[str, Any]:
        """Look at the tables, or at a handle."""
        if name is not None:
            return {"confirmed": self._handle(name).confirmed_by_owner()}
        gc.collect()  # what an error refers to is let go only now
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

    def _handle(self, name: str) -> RRef:
        if name not in handles:
            raise LookupError(f"no handle is called {name} here")
        return handles[name]

    def _given(self, args: Sequence[Any]) -> list[Any]:
        return [self._argument(one) for one in args]

    def _argument(self, argument: Any) -> Any:
        match argument:
            case {"rref": name}:
                return self._handle(name)
            case {"unwritable": True}:
                return threading.Lock()
            case {"unreadable": True}:
                return None  # what makes it unreadable is done to the message
            case _:
                return argument

    def _spoiling(self, args: Sequence[Any]) -> Any:
        return self._faults.spoiling() if {"unreadable": True} in args else nullcontext()
