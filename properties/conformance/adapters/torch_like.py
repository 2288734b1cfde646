"""A worker in Python that holds RRefs with PyTorch's methods: what `processes` and `torch` have in common."""

from __future__ import annotations

import gc
import threading
from collections.abc import Mapping
from typing import Any, Protocol

from farref.properties.conformance.adapters.agent import Agent
from farref.properties.conformance.adapters.functions import handles, leaves


class Contexts(Protocol):
    """The open autograd contexts of a worker."""

    def __contains__(self, name: str) -> bool: ...

    def open(self, name: str) -> Any:
        """Open a context; give its id."""

    def release(self, name: str) -> None:
        """Release a context, whoever is still at work in it."""

    def run(self, context: Any, *program: Any) -> None:
        """Take steps in a context, then go back from some roots."""

    def found(self, context: Any) -> Mapping[str, float]:
        """Give the gradients of the leaves here, by name."""


class TorchLikeAgent(Agent):
    """One worker. What it holds is in `functions`, where calls of others find it."""

    contexts: Contexts

    def drop(self, name: str) -> None:
        """Let go of a handle, or of a context."""
        if name in self.contexts:
            self.contexts.release(name)
        else:
            self.handle(name)
            del handles[name]

    def fetch(self, name: str, timeout: float | None) -> Any:
        """Fetch the value of a handle, or of a leaf."""
        return leaves[name].item() if name in leaves else self.handle(name).to_here(self.seconds(timeout))

    def open(self, context: str) -> Any:
        """Open an autograd context."""
        return self.contexts.open(context)

    def backward(self, context: Any, *program: Any) -> None:
        """Take steps in a context, and go back."""
        self.contexts.run(context, *program)

    def gradients(self, context: Any) -> Mapping[str, float]:
        """Give the gradients here."""
        return self.contexts.found(context)

    def probe(self, name: str | None) -> Mapping[str, Any]:
        """Look at the tables, or at a handle."""
        if name is not None:
            return {"confirmed": self.handle(name).confirmed_by_owner()}
        gc.collect()  # what an error refers to is let go only now
        return self.counts()

    def counts(self) -> Mapping[str, int]:
        """Say how much the tables hold."""
        raise NotImplementedError

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

    def unreadable(self) -> Any:
        """Make a value that can be written, and that nobody can read."""
        raise NotImplementedError

    def seconds(self, timeout: float | None) -> float | None:
        """Give a timeout as the backend has it."""
        return timeout

    def let_go(self) -> None:
        """Hold nothing any more."""
        handles.clear()
        leaves.clear()
