"""One optimizer over parameters on many workers (A27).

Every owner has an optimizer of its own for the parameters it owns. A step has each of them apply the gradients of one
context that can be seen where it is. Steps on one worker exclude each other, whoever asks for them: its worker has one lock
for all of them (`Worker.stepping`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.ids import WorkerId
from farref.impl.errors import RefusedFunction, RpcError, StepFailed
from farref.impl.functions import function, name_of
from farref.impl.rref import RRef
from farref.impl.spelling import also_called
from farref.impl.tape import optimizers
from farref.impl.tape.optimizers import Optimizer
from farref.impl.worker.futures import Future
from farref.impl.worker.process import current
from farref.impl.worker.recording import as_context, opened, using


class DistributedOptimizer:
    """Moves parameters wherever they are.

    `optimizer_class` is a class of `farref.impl.tape`, or of a module the owners allow. All that follows the parameters is
    for it.
    """

    @also_called(optimizer="optimizer_class", parameters="params_rref")
    def __init__(
        self, optimizer_class: type[Optimizer], params_rref: Iterable[RRef], *args: Any, **kwargs: Any
    ) -> None:
        owned: dict[WorkerId, list[RRef]] = {}
        for parameter in _fit(params_rref):
            owned.setdefault(parameter.owner_rank(), []).append(parameter)
        name = name_of(optimizer_class)
        self.remote_optimizers: dict[WorkerId, RRef] = _all(
            {rank: _call(rank, make_local, [name, mine, list(args), kwargs]) for rank, mine in owned.items()}
        )

    @also_called(context="context_id")
    def step(self, context_id: ContextId | int) -> None:
        """Move every parameter that has a gradient in a context. Returns when all owners have answered."""
        worker, context = current(), as_context(context_id)
        with worker.lock:
            opened(worker, context)
        with using(context):
            futures = {
                rank: _call(rank, step_local, [local, context]) for rank, local in self.remote_optimizers.items()
            }
        _all(futures)


@function
def make_local(name: str, parameters: list[RRef], args: list[Any], kwargs: dict[str, Any]) -> RRef:
    """Make the optimizer of one owner, for the parameters it owns."""
    kind = _resolved(name)
    return RRef(kind([parameter.local_value() for parameter in parameters], *args, **kwargs))


@function
def step_local(local: RRef, context: ContextId) -> None:
    """Make one owner's part of a step: its own parameters, with the gradients of just this context."""
    worker = current()
    with worker.stepping:
        with worker.lock:
            gradients = dict(opened(worker, context).gradients)
        local.local_value().step(gradients)


def _fit(parameters: Iterable[RRef]) -> list[RRef]:
    """Refuse what is no list of references, before any owner is asked."""
    allowed = "the parameters are a list of RRefs to tensors, such as [RRef(tensor)]"
    if not isinstance(parameters, Iterable):
        raise TypeError(f"{allowed}, and not a {type(parameters).__qualname__}")
    given = list(parameters)
    if not given:
        raise ValueError(f"{allowed}, and there are none")
    for position, parameter in enumerate(given):
        if not isinstance(parameter, RRef):
            raise TypeError(f"{allowed}, and parameter {position} is a {type(parameter).__qualname__}")
    return given


def _resolved(name: str) -> type[Optimizer]:
    module, _, qualname = name.partition(":")
    if module == optimizers.__name__:
        found = getattr(optimizers, qualname, None)
    else:
        found = current().functions.resolve(name)
    if not isinstance(found, type) or not issubclass(found, Optimizer):
        raise RefusedFunction(f"{name} is no optimizer")
    return found


def _call(rank: WorkerId, target: Any, arguments: list[Any]) -> Future | Exception:
    """Call an owner; an owner that cannot be called has failed as one that answers with an error has."""
    try:
        return current().call(rank, target, arguments, {}, None)
    except RpcError as error:
        return error


def _all(futures: dict[WorkerId, Future | Exception]) -> dict[WorkerId, Any]:
    """Wait for all, then raise one error that has all errors."""
    results: dict[WorkerId, Any] = {}
    errors: dict[str, Exception] = {}
    for rank, future in futures.items():
        try:
            if isinstance(future, Exception):
                raise future
            results[rank] = future.wait()
        except Exception as error:
            errors[current().names[rank]] = error
    if errors:
        told = "; ".join(f"{name}: {str(error).splitlines()[0]}" for name, error in errors.items())
        raise StepFailed(f"the optimizer failed on {told}", errors)
    return results
