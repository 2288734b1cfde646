"""What the workers of `processes` run: our implementation under PyTorch's names, its functions and its contexts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from farref.impl import RRef, function, remote, rpc_sync
from farref.impl.api import current
from farref.impl.autograd import ContextId, DistributedOptimizer, get_gradients
from farref.impl.tape import SGD, no_grad, tensor
from farref.impl.worker.recording import using
from farref.properties.conformance.adapters import functions, interpreter
from farref.properties.conformance.adapters.library import Library

T = TypeVar("T")

for _called in (*functions.FUNCTIONS.values(), functions.keep, *interpreter.CALLED):
    function(_called)


@function
def misuse() -> None:
    """Raise what a library raises."""
    np.zeros(2) + np.zeros(3)


FUNCTIONS: Final[dict[str, Callable[..., Any] | str]] = {
    **functions.FUNCTIONS,
    "misuse": misuse,
    "missing": f"{__name__}:missing",  # nobody has it
}


@function
class OwnSGD(SGD):
    """An optimizer of the application's own."""


def hooked(value: Any, act: Callable[[Any], None]) -> Any:
    """Give a value whose backward does something first."""
    between = value * 1.0
    between.register_hook(act)
    return between * 1.0


LIBRARY: Final = Library(
    rref=RRef,
    remote=remote,
    rpc_sync=rpc_sync,
    leaf=lambda value, _: tensor(value, dtype="float64", requires_grad=True),
    hooked=hooked,
    no_grad=no_grad,
    optimizer=DistributedOptimizer,
    sgd=SGD,
    own_sgd=OwnSGD,
    get_gradients=get_gradients,
)


class JoinedContext:
    """A context, and what was computed in it here."""

    def __init__(self, context: ContextId) -> None:
        self.id, self.results = context, dict[str, Any]()

    def within(self, act: Callable[[], T]) -> T:
        """Do something in the context."""
        with using(self.id):
            return act()

    def close(self) -> None:
        """Release it, whoever is still at work in it."""
        worker = current()
        with worker.lock:
            worker.perform(worker.core.engine.release(self.id))
        worker.flush()
