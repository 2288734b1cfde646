"""A worker in Python that holds RRefs with PyTorch's methods: what `processes` and `torch` have in common."""

from __future__ import annotations

import gc
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from farref.properties.conformance.adapters.agent import Agent
from farref.properties.conformance.adapters.functions import handles, heirloom_of, keep, leaves
from farref.properties.conformance.adapters.interpreter import Interpreter, OpenContext
from farref.properties.conformance.adapters.library import library
from farref.properties.conformance.kit.programs import Step


class TorchLikeAgent(Agent, ABC):
    """One worker. What it holds is in `functions`, where calls of others find it."""

    def enter(self, name: str) -> None:
        """Begin a life, under a name."""
        self.name = heirloom_of["worker"] = name
        self.opened: dict[str, OpenContext] = {}
        self.optimizers: dict[str, Any] = {}

    def let_go(self) -> None:
        """Hold nothing any more."""
        handles.clear()
        leaves.clear()

    # -- references ----------------------------------------------------------------------------------------------------

    def create(self, name: str, owner: str, function: str | None, args: Sequence[Any], timeout: float | None) -> None:
        """Make an RRef on an owner, or of a value."""
        if function is None:
            handles[name] = library().rref(args[0])
            return
        with self.calling(function, args) as (found, given):
            handles[name] = library().remote(owner, found, args=given, timeout=self.seconds(timeout))

    def share(self, name: str, to: str) -> None:
        """Pass a handle to another worker, which keeps it."""
        library().rpc_sync(to, keep, args=(name, self.handle(name)))

    def call(self, to: str, function: str, args: Sequence[Any], timeout: float | None) -> Any:
        """Call a function on another worker."""
        with self.calling(function, args) as (found, given):
            return library().rpc_sync(to, found, args=given, timeout=self.seconds(timeout))

    @abstractmethod
    def calling(self, name: str, args: Sequence[Any]) -> AbstractContextManager[tuple[Any, Sequence[Any]]]:
        """Give a function of the kit and its arguments, for a call."""

    def drop(self, name: str) -> None:
        """Let go of a handle, or of a context."""
        if name not in self.opened:
            self.handle(name)
            del handles[name]
            return
        context = self.opened.pop(name)
        if not self.opened:
            self.optimizers.clear()
        context.close()

    def fetch(self, name: str, timeout: float | None) -> Any:
        """Fetch the value of a handle, or of a leaf."""
        return leaves[name].item() if name in leaves else self.handle(name).to_here(self.seconds(timeout))

    # -- gradients -----------------------------------------------------------------------------------------------------

    def open(self, name: str) -> Any:
        """Open an autograd context; give its id."""
        self.opened[name] = self.open_context()
        return self.opened[name].id

    def backward(
        self,
        context: Any,
        places: Mapping[str, str],
        steps: Sequence[Step],
        roots: Sequence[str],
        mode: str,
        retain: bool,
        timeout: float | None,
    ) -> None:
        """Take steps in a context, then go back from some roots."""
        known = next((one for one in self.opened.values() if one.id == context), None)
        interpreter = Interpreter(self.name, known or self.elsewhere(context), places, self.optimizers)
        for step in steps:
            interpreter.take(step)
        if roots:
            self.go_back(context, [interpreter.result(root) for root in roots], mode, retain, timeout)

    @abstractmethod
    def open_context(self) -> OpenContext:
        """Open a context."""

    @abstractmethod
    def elsewhere(self, context: Any) -> OpenContext:
        """Find a context that another worker has opened."""

    @abstractmethod
    def go_back(self, context: Any, roots: Sequence[Any], mode: str, retain: bool, timeout: float | None) -> None:
        """Take a backward pass."""

    def gradients(self, context: Any) -> Mapping[str, float]:
        """Give the gradients of the leaves here, by name."""
        gradients = library().get_gradients(context)
        return {name: gradients[leaf].item() for name, leaf in leaves.items() if leaf in gradients}

    # -- tables and arguments ------------------------------------------------------------------------------------------

    def probe(self, name: str | None) -> Mapping[str, Any]:
        """Look at the tables, or at a handle."""
        if name is not None:
            return {"confirmed": self.handle(name).confirmed_by_owner()}
        gc.collect()  # what an error refers to is let go only now
        return self.counts()

    @abstractmethod
    def counts(self) -> Mapping[str, int]:
        """Say how much the tables hold."""

    def handle(self, name: str) -> Any:
        """Find what is held under a name."""
        if name not in handles:
            raise LookupError(f"no handle is called {name} here")
        return handles[name]

    def argument(self, argument: Any) -> Any:
        """Make what an argument of the kit stands for."""
        match argument:
            case {"rref": name}:
                return self.handle(name)
            case {"unwritable": True}:
                return threading.Lock()
            case {"unreadable": True}:
                return self.unreadable()
            case _:
                return argument

    @abstractmethod
    def unreadable(self) -> Any:
        """Make a value that can be written, and that nobody can read."""

    def seconds(self, timeout: float | None) -> float | None:
        """Give a timeout as the backend has it."""
        return timeout
