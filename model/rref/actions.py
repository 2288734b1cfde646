"""Everything that can happen in a world, one frozen dataclass each.

What the application does, what its functions do, what the clock does and what the network does are separate actions, so that
a slow function, an abandoned fetch or an overtaken message is simply a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass

from farref.model.actions import (
    Cut,
    Deliver,
    DropMessage,
    Duplicate,
    Exclude,
    FailCall,
    Happening,
    Install,
    Mend,
    OnMember,
    Retry,
)
from farref.model.ids import WorkerId, worker_name
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Call, Control, Message, RemoteCall, Return


@dataclass(frozen=True, slots=True)
class OnRRef(Happening):
    """An action at the owner of an RRef."""

    rref: RRefId

    def __str__(self) -> str:
        return f"{self.kind}(x{self.rref})"


class CreateLocal(OnRRef):
    """The owner wraps a value it has."""


class CreateOnSelf(OnRRef):
    """The owner runs a function on itself and keeps the result."""


class FinishFunction(OnRRef):
    """The function that computes the value ends."""


class RegisterCreator(OnRRef):
    """The owner registers the creator's fork, later than the entry."""


class OwnerLetGo(OnRRef):
    """Code on the owner lets go of the RRef."""


@dataclass(frozen=True, slots=True)
class CreateRemote(OnRRef):
    """A worker has the owner run a function and keep the result."""

    worker: WorkerId

    def __str__(self) -> str:
        return f"{self.kind}(x{self.rref}, {worker_name(self.worker)})"


@dataclass(frozen=True, slots=True)
class OnFork(Happening):
    """An action of the application that holds a fork."""

    fork: ForkId

    def __str__(self) -> str:
        return f"{self.kind}(f{self.fork})"


class LetGo(OnFork):
    """The application lets go of its handle."""


class FetchValue(OnFork):
    """The application asks for the value."""


class AbandonFetch(OnFork):
    """The application gives up waiting for the value."""


class TimeOutCreation(OnFork):
    """The application gives up waiting for its creation."""


class EndCall(OnFork):
    """The function that received the fork as argument ends."""


@dataclass(frozen=True, slots=True)
class OwnerShare(OnRRef):
    """The owner shares its RRef, as argument (Call) or result (Return)."""

    target: WorkerId
    carrier: type[Call | Return]

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return f"OwnerShare {self.carrier.__name__}"

    def __str__(self) -> str:
        return f"OwnerShare(x{self.rref}, {worker_name(self.target)}, {self.carrier.__name__})"


@dataclass(frozen=True, slots=True)
class UserShare(OnFork):
    """A user shares its RRef, as argument (Call) or result (Return)."""

    target: WorkerId
    carrier: type[Call | Return]

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return f"UserShare {self.carrier.__name__}"

    def __str__(self) -> str:
        return f"UserShare(f{self.fork}, {worker_name(self.target)}, {self.carrier.__name__})"


@dataclass(frozen=True, slots=True)
class Shutdown(Happening):
    """Every worker calls `shutdown()`: nothing new is begun from now on."""

    def __str__(self) -> str:
        return "Shutdown()"


class Reclaim(OnMember):
    """A worker learns which view is buried, and lets go of what is kept for those excluded in it (R41, R42)."""


class Join(OnMember):
    """A new incarnation joins, in place of a worker that is excluded (R44)."""


@dataclass(frozen=True, slots=True)
class Settle(OnMember):
    """A worker tells the authority that it holds no heir of those excluded in a view (R39)."""

    view: int

    def __str__(self) -> str:
        return f"{self.kind}({worker_name(self.worker)}, {self.view})"


@dataclass(frozen=True, slots=True)
class Bury(Happening):
    """The authority buries a view, as all its members have settled it (R40)."""

    view: int

    def __str__(self) -> str:
        return f"Bury({self.view})"


OnView = Exclude | Install | Settle | Bury | Reclaim | Join
"""What is done about views."""

Befalling = (
    Deliver[Message] | Duplicate[Message] | DropMessage[Message] | Retry[Control] | FailCall[RemoteCall | Call | Return]
)
"""What can befall a message."""

Action = (
    CreateLocal
    | CreateOnSelf
    | CreateRemote
    | FinishFunction
    | RegisterCreator
    | OwnerShare
    | OwnerLetGo
    | UserShare
    | LetGo
    | FetchValue
    | AbandonFetch
    | TimeOutCreation
    | EndCall
    | Befalling
    | Shutdown
    | Cut
    | Mend
    | OnView
)
