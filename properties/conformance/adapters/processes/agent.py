"""A worker of `farref.impl`, as the conformance kit drives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from farref.impl import Settings, api
from farref.impl.api import current
from farref.impl.autograd import ContextId, backward
from farref.impl.errors import NotRunning, PassRefused, ReferenceRefused, RefusedCall, WasExcluded
from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.library import bind
from farref.properties.conformance.adapters.processes.faults import Faults, cut, join_again
from farref.properties.conformance.adapters.processes.library import FUNCTIONS, LIBRARY, JoinedContext
from farref.properties.conformance.adapters.torch_like import TorchLikeAgent

bind(LIBRARY)

LEAVE_S: Final = 6.0


class ProcessesAgent(TorchLikeAgent):
    """One worker."""

    kinds: ClassVar[Mapping[str, tuple[type[BaseException], ...]]] = {
        "refused": (ReferenceRefused, RefusedCall, PassRefused, NotRunning, WasExcluded),
    }

    def join(self, life: Life) -> None:
        """Join the world of a directory."""
        log = life.options.get("log")
        silence = float(life.options.get("silence", Settings().silence_seconds))
        settings = Settings(rpc_timeout=float(life.options.get("timeout", 60.0)), silence_seconds=silence)
        path = None if log is None else Path(log, f"{life.name}.jsonl")
        place, size = Path(life.directory), len(life.workers)
        join = partial(api.init_rpc, life.name, life.rank, size, directory=place, settings=settings, log=path)
        if life.is_again:
            join_again(join)
        else:
            join()
        self._faults, self._joined = Faults(), dict[ContextId, JoinedContext]()
        self.enter(life.name)

    def leave(self) -> Sequence[str]:
        """Shut down in good order."""
        left = api.shutdown(timeout=LEAVE_S)
        self.let_go()
        return [] if left.is_empty() else [f"could not release {left}"]

    @contextmanager
    def calling(self, name: str, args: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
        """Give a function and its arguments. What nobody can read is made so in the message."""
        with self._faults.spoiling() if {"unreadable": True} in args else nullcontext():
            yield FUNCTIONS[name], [self.argument(one) for one in args]

    def open_context(self) -> JoinedContext:
        """Open a context."""
        worker = current()
        with worker.lock:
            return JoinedContext(worker.core.engine.open_context())

    def elsewhere(self, context: ContextId) -> JoinedContext:
        """Keep what is computed here in a context of another worker."""
        return self._joined.setdefault(context, JoinedContext(context))

    def go_back(self, context: Any, roots: Sequence[Any], mode: str, retain: bool, timeout: float | None) -> None:
        """Take a backward pass."""
        backward(context, roots, retain, mode, timeout)

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
        """Have messages lost, late or twice, or a stream broken."""
        if kind == "cut":
            cut(details["to"])
        else:
            self._faults.choose(kind, details)

    def unreadable(self) -> None:
        """Give anything: what makes it unreadable is done to the message."""
