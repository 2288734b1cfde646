"""Gradient programs on the workers of `torch`.

A context of PyTorch belongs to the thread that opened it: only what this thread sends is recorded. So every open context has
a thread of its own, in which the steps of its programs are taken. A pass needs no thread, and neither does a release.

`torch._dynamo` is what the first optimizer of a process imports, for seconds. Here it is imported before workers are forked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar

import torch
import torch._dynamo
from torch.distributed import autograd, rpc
from torch.distributed.optim import DistributedOptimizer

from farref.properties.conformance.adapters.functions import leaves
from farref.properties.conformance.adapters.interpreter import Interpreter, compute
from farref.properties.conformance.kit.programs import Step

T = TypeVar("T")


class OwnSGD(torch.optim.SGD):  # type: ignore[misc]
    """An optimizer that PyTorch does not know, and therefore does not put into TorchScript."""


def put_leaf(name: str, value: float, is_parameter: bool) -> None:
    """Have a leaf here."""
    leaf = torch.tensor(value, dtype=torch.float64)
    leaves[name] = torch.nn.Parameter(leaf) if is_parameter else leaf.requires_grad_()


def leaf(name: str) -> Any:
    """Give a leaf, for the optimizer."""
    return leaves[name]


def compute_here(operation: str, args: Sequence[Any]) -> Any:
    """Compute something for another worker."""
    return compute(operation, args, leaves, hooked)


class Hooked(torch.autograd.Function):  # type: ignore[misc]
    """A value as it is, whose backward does something first."""

    @staticmethod
    def forward(ctx: Any, value: Any, act: Callable[[Any], None]) -> Any:
        """Give the value."""
        ctx.act = act
        return value * 1.0

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        """Act, then give the gradient."""
        ctx.act(gradient)
        return gradient, None


def hooked(value: Any, act: Callable[[Any], None]) -> Any:
    """Give a value whose backward does something first. (A hook of a tensor that raises loses what it says.)"""
    return Hooked.apply(value, act)


def relay(path: Sequence[str], operation: str, args: Sequence[Any]) -> Any:
    """Have something computed further along a path."""
    return rpc.rpc_sync(path[0], relay, args=(path[1:], operation, args)) if path else compute_here(operation, args)


class ContextThread:
    """An open context, the thread that it belongs to, and what was computed in it."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self._acts: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=self._live, daemon=True).start()
        self.context: int = self.do(lambda: autograd._new_context()._context_id())

    def do(self, act: Callable[[], T]) -> T:
        """Do something in the thread, and wait for it."""
        future: Future[T] = Future()
        self._acts.put((act, future))
        return future.result()

    def close(self) -> None:
        """Release the context at once, whoever is still at work in it."""
        self.results.clear()
        self._acts.put(None)
        autograd._release_context(self.context)

    def _live(self) -> None:
        while (one := self._acts.get()) is not None:
            act, future = one
            try:
                future.set_result(act())
            except BaseException as error:
                future.set_exception(error)
            del one, act, future


@dataclass(frozen=True)
class Calls:
    """Calls in one context."""

    thread: ContextThread
    optimizers: dict[str, DistributedOptimizer]

    def within(self, act: Callable[[], T]) -> T:
        """Do something in the context."""
        return self.thread.do(act)

    def unrecorded(self) -> AbstractContextManager[Any]:
        """Turn recording off for a while."""
        off: AbstractContextManager[Any] = torch.no_grad()
        return off

    def put_leaf(self, on: str, name: str, step: Step) -> None:
        """Have a leaf on a worker."""
        rpc.rpc_sync(on, put_leaf, args=(name, step["value"], step.get("parameter", False)))

    def relay(self, path: Sequence[str], operation: str, args: Sequence[Any]) -> Any:
        """Have something computed at the end of a path."""
        return rpc.rpc_sync(path[0], relay, args=(path[1:], operation, args))

    def remote(self, on: str, operation: str, args: Sequence[Any]) -> Any:
        """Have something computed and kept on a worker."""
        return rpc.remote(on, compute_here, args=(operation, args))

    def compute(self, operation: str, args: Sequence[Any]) -> Any:
        """Have something computed here, without a call."""
        return compute_here(operation, list(args))

    def optimize(self, leaves: Mapping[str, str], step: Step) -> None:
        """Have the leaves moved, by the optimizer that was made for them once."""
        key = repr(sorted(step.items()))
        if key not in self.optimizers:
            references = [rpc.remote(on, leaf, args=(name,)) for name, on in leaves.items()]
            kind = OwnSGD if step.get("own") else torch.optim.SGD
            self.optimizers[key] = DistributedOptimizer(kind, references, lr=float(step["rate"]))
        self.optimizers[key].step(self.thread.context)


class Gradients:
    """The open contexts of one worker."""

    def __init__(self, here: str) -> None:
        self._here = here
        self._opened: dict[str, ContextThread] = {}
        self._optimizers: dict[str, DistributedOptimizer] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._opened

    def __len__(self) -> int:
        return len(self._opened)

    def open(self, name: str) -> int:
        """Open a context."""
        self._opened[name] = ContextThread()
        return self._opened[name].context

    def release(self, name: str) -> None:
        """Release a context."""
        thread = self._opened.pop(name)
        if not self._opened:
            self._optimizers.clear()
        thread.close()

    def run(
        self,
        context: int,
        places: Mapping[str, str],
        steps: Sequence[Step],
        roots: Sequence[str],
        mode: str,
        retain: bool,
        timeout: float | None,
    ) -> None:
        """Take steps in a context, then go back from some roots."""
        thread = next((thread for thread in self._opened.values() if thread.context == context), None)
        if thread is None:
            raise NotImplementedError(
                "a context of PyTorch belongs to a thread: only the worker that opened it takes steps"
            )
        if roots and (mode != "fast" or timeout is not None):
            raise NotImplementedError("PyTorch has FAST only, and its passes have no timeout of their own")
        interpreter = Interpreter(self._here, Calls(thread, self._optimizers), places, leaves, thread.results)
        for step in steps:
            interpreter.take(step)
        if roots:
            autograd.backward(context, [interpreter.result(root) for root in roots], retain_graph=retain)

    def found(self, context: int) -> Mapping[str, float]:
        """Give the gradients of the leaves here, by name."""
        gradients = autograd.get_gradients(context)
        return {name: gradients[leaf].item() for name, leaf in leaves.items() if leaf in gradients}
