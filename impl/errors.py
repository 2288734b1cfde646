"""Every error an application can meet, by type. Each names the worker it is about, and the function where there is one."""

from __future__ import annotations


class RpcError(RuntimeError):
    """The parent of all errors here."""


class NotRunning(RpcError):
    """RPC has not been initialised in this process, or is shutting down."""


class UnknownWorker(RpcError, LookupError):
    """No worker of this world has that name or rank."""


class RpcTimeout(RpcError, TimeoutError):
    """The answer took too long. Nothing is cancelled, and no count changes (R27)."""


class PeerDied(RpcError, ConnectionError):
    """A worker was declared dead (R34)."""


class WasExcluded(RpcError, ConnectionError):
    """This worker was excluded from its world, and uses nothing of it any more (R38). It may join again as a new one (R44)."""


class RefusedValue(RpcError, TypeError):
    """A value cannot travel: its type is not one that the wire knows, or it is too large."""


class RefusedResult(RefusedValue):
    """A function ran, and what it gave could not travel: it could not be written there, or was refused here (R28)."""


class RefusedFunction(RpcError, PermissionError):
    """A function may not be called by name from another worker."""


class RefusedCall(RpcError):
    """A worker refused a call before running it; no reference in it was taken on (R28)."""


class LimitReached(RefusedCall):
    """There is as much of something as there may be, and no more was begun. It names the setting (`spec/limits.md`)."""


class QueueFull(LimitReached, RpcTimeout):
    """A worker has taken nothing in for the whole timeout of a call, and as much is queued for it as may be."""


LIMIT_REACHED = "limit reached: "
"""How a reason begins that is a limit: reasons travel as text."""


def refusal(reason: str, message: str | None = None) -> RefusedCall:
    """Make the error for a reason that a worker gave."""
    kind = LimitReached if reason.startswith(LIMIT_REACHED) else RefusedCall
    return kind(reason if message is None else message)


class RemoteError(RpcError):
    """A function raised on another worker. Carries its traceback as text."""

    def __init__(
        self, message: str, *, worker: str = "", function: str = "", type_name: str = "", traceback: str = ""
    ) -> None:
        RuntimeError.__init__(self, message)
        self.message = message
        self.worker = worker
        self.function = function
        self.type_name = type_name
        self.traceback = traceback

    def __str__(self) -> str:
        return self.message


class ReferenceRefused(RpcError):
    """A reference cannot be used: let go already, never held, or its creation timed out (R27)."""


class ContextReleased(RpcError, LookupError):
    """An autograd context is not open on this worker: it was released, or is not known here (A10, A24)."""


class PassRefused(RpcError):
    """`backward` did not begin: its roots are not fit for it, or a pass of the context is under way here (A10)."""


class PassFailed(RpcError):
    """A backward pass failed, and names the worker it failed on. Nothing of it can be seen (A18)."""


class RuleRaised(PassFailed):
    """A backward rule or a hook raised an exception. Carries its traceback as text."""


class PassTimeout(PassFailed, TimeoutError):
    """A backward pass took longer than its caller wanted to wait (A20)."""


class UnreachedSends(PassFailed):
    """In FAST some sends get no gradient: calls whose results, or arguments, the roots do not depend on (A15)."""


class PassBusy(PassFailed):
    """A worker was in a pass of another root (A10)."""


class PassReleased(PassFailed, ContextReleased):
    """A worker had closed the context (A24)."""


class PassPeerDied(PassFailed, PeerDied):
    """A worker that took part was declared dead (A21)."""


class PassExcluded(PassFailed, WasExcluded):
    """The worker that called `backward` was excluded itself. Of a pass that was decided, some may show gradients (A29)."""


class StepFailed(RpcError):
    """Some workers could not make their part of a step; what the others did stays done. `errors` has each, by worker (A27)."""

    def __init__(self, message: str, errors: dict[str, Exception] | None = None) -> None:
        super().__init__(message)
        self.errors = errors or {}


class WireError(RpcError):
    """Bytes that are no frame of ours. The connection they came on is closed."""


class Mismatch(WireError):
    """The other end speaks another version, or belongs to another world. Trying again would not help."""


class GaveUp(RpcError):
    """Joining was given up because the world cannot come together any more."""
