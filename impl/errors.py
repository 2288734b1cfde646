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


class RefusedValue(RpcError, TypeError):
    """A value cannot travel: its type is not one that the wire knows, or it is too large."""


class RefusedFunction(RpcError, PermissionError):
    """A function may not be called by name from another worker."""


class RefusedCall(RpcError):
    """A worker refused a call before running it; no reference in it was taken on (R28)."""


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


class WireError(RpcError):
    """Bytes that are no frame of ours. The connection they came on is closed."""


class Mismatch(WireError):
    """The other end speaks another version, or belongs to another world. Trying again would not help."""


class GaveUp(RpcError):
    """Joining was given up because the world cannot come together any more."""
