"""What the workers of `torch` run: PyTorch under its own names, and its contexts.

A context of PyTorch belongs to the thread that opened it: only what this thread sends is recorded. So every open context has
a thread of its own, in which the steps of its programs are taken. A pass needs no thread, and neither does a release.

`torch._dynamo` is what the first optimizer of a process imports, for seconds. Here it is imported before workers are forked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, TypeVar

import torch
import torch._dynamo
from torch.distributed import autograd, rpc
from torch.distributed.optim import DistributedOptimizer

from farref.properties.conformance.adapters.library import Library

T = TypeVar("T")


class OwnSGD(torch.optim.SGD):  # type: ignore[misc]
    """An optimizer that PyTorch does not know, and therefore does not put into TorchScript."""


def make_leaf(value: float, is_parameter: bool) -> Any:
    """Make a leaf, or a parameter."""
    made = torch.tensor(value, dtype=torch.float64)
    return torch.nn.Parameter(made) if is_parameter else made.requires_grad_()


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


LIBRARY: Final = Library(
    rref=rpc.RRef,
    remote=rpc.remote,
    rpc_sync=rpc.rpc_sync,
    leaf=make_leaf,
    hooked=hooked,
    no_grad=torch.no_grad,
    optimizer=DistributedOptimizer,
    sgd=torch.optim.SGD,
    own_sgd=OwnSGD,
    get_gradients=autograd.get_gradients,
)


class ContextThread:
    """An open context, the thread that it belongs to, and what was computed in it."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self._acts: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=self._live, daemon=True).start()
        self.id: int = self.within(lambda: autograd._new_context()._context_id())

    def within(self, act: Callable[[], T]) -> T:
        """Do something in the context, and wait for it."""
        future: Future[T] = Future()
        self._acts.put((act, future))
        return future.result()

    def close(self) -> None:
        """Release the context at once, whoever is still at work in it."""
        self.results.clear()
        self._acts.put(None)
        autograd._release_context(self.id)

    def _live(self) -> None:
        while (one := self._acts.get()) is not None:
            act, future = one
            try:
                future.set_result(act())
            except BaseException as error:
                future.set_exception(error)
            del one, act, future
