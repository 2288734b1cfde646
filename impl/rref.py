"""The handle that an application holds, with PyTorch's names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from farref.impl.core.ids import OwnedReference, Reference, RRefId, WorkerId
from farref.impl.errors import ReferenceRefused, RefusedValue
from farref.impl.functions import SCRIPT, SCRIPT_IN_A_CHILD, function
from farref.impl.spelling import also_called
from farref.impl.worker.process import current

if TYPE_CHECKING:
    from farref.impl.core.autograd.ids import ContextId
    from farref.impl.worker.futures import Future
    from farref.impl.worker.worker import Worker


NO_CONTEXT: Final = -1
"""PyTorch's word for a pass that stays on one worker."""


class RRef:
    """A reference to a value that lives on one worker, its owner. Dropping it is letting go (R26)."""

    __slots__ = ("__weakref__", "_reference", "_worker")

    _worker: Worker | None
    _reference: Reference | None

    def __init__(self, value: object, type_hint: object = None) -> None:  # noqa: ARG002
        """Wrap a value that is on this worker (R13). `type_hint` is for TorchScript, which is not here: it is not looked at."""
        self._worker, self._reference = None, None
        current().create_local(self, value)

    @classmethod
    def unbound(cls) -> RRef:
        """Make a handle whose fork has not taken effect yet, and perhaps never will (R28)."""
        handle = cls.__new__(cls)
        handle._worker, handle._reference = None, None
        return handle

    def adopt(self, worker: Worker, reference: Reference) -> RRef:
        """Stand for a reference from now on."""
        self._worker, self._reference = worker, reference
        return self

    def __del__(self) -> None:
        # May run at any moment, inside any lock: it only appends.
        if self._reference is not None and self._worker is not None:
            self._worker.dropped.append(self._reference)

    @property
    def reference(self) -> Reference:
        """What the core knows this handle by."""
        if self._reference is None:
            raise ReferenceRefused("this RRef was never taken on")
        return self._reference

    @property
    def worker(self) -> Worker:
        """The worker this handle is on."""
        if self._worker is None:
            raise ReferenceRefused("this RRef was never taken on")
        return self._worker

    @property
    def id(self) -> RRefId:
        """The RRef's id, the same on every worker."""
        return self.reference.rref

    def is_owner(self) -> bool:
        """Say whether the value is on this worker."""
        return isinstance(self.reference, OwnedReference)

    def owner_rank(self) -> WorkerId:
        """Say which worker has the value, by rank."""
        reference = self.reference
        return self.worker.rank if isinstance(reference, OwnedReference) else reference.owner

    def owner(self) -> Any:
        """Say which worker has the value."""
        return self.worker.info(self.owner_rank())

    def owner_name(self) -> str:
        """Say which worker has the value, by name."""
        return self.worker.names[self.owner_rank()]

    def confirmed_by_owner(self) -> bool:
        """Say whether the owner counts this reference, and this worker has been told (R31)."""
        return self.worker.is_confirmed(self.reference)

    def to_here(self, timeout: float | None = None) -> Any:
        """Get the value: a copy of it, or on the owner the value itself (R20).

        `timeout` is in seconds; none or -1 means that of all calls (`rpc_timeout`), 0 means for ever.
        """
        return self.worker.fetch(self.reference, timeout).wait()

    def local_value(self, timeout: float | None = None) -> Any:
        """Get the value on its owner, waiting for it if need be (R21). `timeout` is as in `to_here`."""
        if not self.is_owner():
            here, owner = self.worker.names[self.worker.rank], self.owner_name()
            raise ReferenceRefused(f"{self!r} is on {here}: local_value() works on its owner only, {owner}")
        return self.worker.fetch(self.reference, timeout).wait()

    def rpc_sync(self, timeout: float | None = None) -> Proxy:
        """Call methods of the value where it is, and wait for their results. `timeout` is as in `to_here`."""
        return Proxy(self, "sync", timeout)

    def rpc_async(self, timeout: float | None = None) -> Proxy:
        """Call methods of the value where it is; their results are futures. `timeout` is as in `to_here`."""
        return Proxy(self, "async", timeout)

    def remote(self, timeout: float | None = None) -> Proxy:
        """Call methods of the value where it is; their results stay there, as RRefs. `timeout` is as in `to_here`."""
        return Proxy(self, "remote", timeout)

    def _get_future(self) -> Future:
        """Give a future that is done when the value is there, or that has the error of its creation. Its value is None."""
        return self.worker.call(self.owner_rank(), await_value, [self], {}, 0)

    def _get_type(self, timeout: float | None = None, blocking: bool = True) -> Any:
        """Find the type of the value, or a future of it if not `blocking`. `timeout` is as in `to_here`.

        A type that has not been imported here is not imported either, but refused by name.
        """
        named = self.worker.call(self.owner_rank(), type_name, [self], {}, timeout).then(_type_named)
        return named.wait() if blocking else named

    @also_called(context="dist_autograd_ctx_id")
    def backward(
        self,
        dist_autograd_ctx_id: ContextId | int = NO_CONTEXT,
        retain_graph: bool = False,
        mode: str = "smart",
        timeout: float | None = None,
    ) -> None:
        """Begin a backward pass where the value is, with the value as its root (A10). `timeout` is as in `to_here`.

        With no context the pass stays on this worker, which has to be the owner, and adds to `.grad`.
        """
        from farref.impl.autograd.backward import backward_here_alone, backward_on_owner

        if type(dist_autograd_ctx_id) is int and dist_autograd_ctx_id == NO_CONTEXT:
            backward_here_alone(self, retain_graph, timeout)
        else:
            backward_on_owner(self, dist_autograd_ctx_id, retain_graph, mode, timeout)

    def __reduce_ex__(self, protocol: object) -> Any:
        # A copy would be let go of twice, and a pickle would be a fork that nobody counts.
        raise ReferenceRefused(
            f"{self!r} can be neither copied nor pickled: it travels as an argument or a result only"
        )

    def __repr__(self) -> str:
        reference = self._reference
        match reference:
            case None:
                return "RRef(not taken on)"
            case OwnedReference():
                return f"OwnerRRef({reference.rref})"
            case _:
                return f"UserRRef({reference.rref}, {reference.fork})"


class Proxy:
    """Turns a method call into a call on the owner."""

    def __init__(self, rref: RRef, kind: str, timeout: float | None) -> None:
        self._rref, self._kind, self._timeout = rref, kind, timeout

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)

        def call(*args: Any, **kwargs: Any) -> Any:
            worker, target = self._rref.worker, self._rref.owner_rank()
            arguments = (self._rref, method, args, kwargs)
            if self._kind == "remote":
                return worker.remote(target, call_method, arguments, {}, self._timeout)
            if self._kind == "async":
                return worker.call(target, call_method, arguments, {}, self._timeout)
            return worker.call(target, call_method, arguments, {}, self._timeout).wait()

        return call


@function
def call_method(rref: RRef, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of an RRef's value, on its owner (`methods`). If it returns a future, that is waited for."""
    from farref.impl.methods import find_method

    # For ever: the caller's own time says how long, and the value comes, or an error in its place (R29).
    return find_method(rref.local_value(timeout=0), method, rref.worker.functions)(*args, **kwargs)


@function
def await_value(rref: RRef) -> None:
    """Answer when the value of an RRef is there, on its owner."""
    rref.local_value(timeout=0)


@function
def type_name(rref: RRef) -> list[str]:
    """Say by module and name what type the value of an RRef is, on its owner."""
    kind = type(rref.local_value(timeout=0))
    return [SCRIPT if kind.__module__ == SCRIPT_IN_A_CHILD else kind.__module__, kind.__qualname__]


def _type_named(named: Future) -> type:
    """Find a type that is known here. Nothing is imported for it."""
    module, qualname = named.wait()
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise RefusedValue(f"the value is a {module}.{qualname}, which has not been imported here")
    return found
