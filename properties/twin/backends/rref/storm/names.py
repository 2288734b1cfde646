"""What each id of the implementation is called in a storm, and each message under way (`moves.py` has the names)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from farref.impl.core import ids
from farref.impl.core.messages import (
    Ack,
    AnyMessage,
    Call,
    CallFailed,
    Carrier,
    ChildAccept,
    Control,
    ControlBody,
    Excluded,
    FetchCall,
    FetchReturn,
    ForwardCall,
    RemoteCall,
    Return,
    UserAccept,
)
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.rref import names
from farref.properties.twin.backends.rref.storm.network import REPLIES

Numbered = tuple[ids.WorkerId, int, ids.WorkerId, ids.SequenceNumber]
"""A control message: its sender, the sender's life, its receiver, its number."""


@dataclass(frozen=True, slots=True)
class Created:
    """An RRef, as whoever created it knows it."""

    id: ids.RRefId
    owner: ids.WorkerId
    creator: ids.WorkerId
    number: int  # of the move that made it


@dataclass(frozen=True, slots=True)
class Made(names.Made):
    """A fork, as whoever shared it knows it, and what it travelled with."""

    carrier: str


class StormNames:
    """The names given so far. Nothing here is taken from a table."""

    def __init__(self) -> None:
        self.created: dict[str, Created] = {}
        self.made: dict[str, Made] = {}
        self.of: dict[str, list[str]] = {}
        """By RRef: its forks."""
        self.calls: dict[tuple[ids.WorkerId, ids.CallId], str] = {}
        self.fetches: dict[tuple[ids.WorkerId, ids.FetchId], str] = {}
        self.accepted: set[ids.ForkId] = set()
        """The forks whose parent was told that they are counted."""
        self._rrefs: dict[ids.RRefId, str] = {}
        self._forks: dict[ids.ForkId, str] = {}
        self._bodies: dict[Numbered, ControlBody] = {}
        self._carried: Counter[str] = Counter()
        self._flights: dict[int, str] = {}

    # Entering

    def enter_rref(self, number: int, found: ids.Reference, creator: ids.WorkerId, owner: ids.WorkerId) -> None:
        """Write down an RRef that a move has created, and its creator's fork if there is one."""
        name = f"x{number}"
        self.created[name], self._rrefs[found.rref], self.of[name] = (
            Created(found.rref, owner, creator, number),
            name,
            [],
        )
        if isinstance(found, ids.UserReference):
            self._enter_fork(f"f{number}", Made(name, None, creator, found, name))

    def _enter_fork(self, name: str, made: Made) -> None:
        self.made[name], self._forks[made.reference.fork] = made, name
        self.of[made.rref].append(name)

    def enter_sent(self, source: ids.WorkerId, target: ids.WorkerId, message: AnyMessage) -> None:
        """Write down the forks that a message carries, and what a control message says."""
        if isinstance(message, Control):
            self._bodies[source, message.incarnation, target, message.number] = message.body
            self.accepted |= {message.body.fork} if isinstance(message.body, ChildAccept) else set()
        elif isinstance(message, Carrier):
            carrier = self.subject(source, target, message)
            for data in message.forks:
                name = f"f{carrier[1:]}.{self._carried[carrier]}"
                self._carried[carrier] += 1
                parent = None if data.parent is None else self.fork(data.parent)
                reference = ids.UserReference(data.owner, data.rref, data.fork)
                self._enter_fork(name, Made(self.rref(data.rref), parent, data.holder, reference, carrier))

    # Names

    def rref(self, found: ids.RRefId) -> str:
        """Name an RRef, or say that nobody created it."""
        return self._rrefs.get(found) or f"unknown {found}"

    def fork(self, found: ids.ForkId) -> str:
        """Name a fork, or say that nobody minted it."""
        return self._forks.get(found) or f"unknown {found}"

    def handle(self, reference: ids.Reference) -> str:
        """Name a handle."""
        owned = isinstance(reference, ids.OwnedReference)
        return self.rref(reference.rref) if owned else self.fork(reference.fork)  # type: ignore[union-attr]

    def reference(self, handle: str) -> tuple[ids.WorkerId, ids.Reference] | None:
        """Say what a handle's name stands for, and on which worker; None if there never was such a thing."""
        if handle in self.made:
            return self.made[handle].holder, self.made[handle].reference
        if handle in self.created:
            return self.created[handle].owner, ids.OwnedReference(self.created[handle].id)
        return None

    def flight(self, flight: InFlight) -> str:
        """Name a message under way."""
        name = self._flights.get(flight.id)
        if name is None:
            name = self._flights[flight.id] = self._message(flight.source, flight.target, flight.message)
        return name

    def control(self, body: ControlBody) -> str:
        """Name a control message."""
        return f"{type(body).__name__}({self.fork(body.fork)})"  # type: ignore[union-attr]

    def _message(self, source: ids.WorkerId, target: ids.WorkerId, message: AnyMessage) -> str:
        if isinstance(message, Control):
            return self.control(message.body)
        if isinstance(message, Ack):
            answered = self._bodies.get((target, message.incarnation, source, message.number))
            return f"Ack({self.control(answered) if answered else 'nothing'})"
        return f"{type(message).__name__}({self.subject(source, target, message)})"

    def subject(self, source: ids.WorkerId, target: ids.WorkerId, message: AnyMessage) -> str:
        """Name what a user call is about."""
        match message:
            case RemoteCall(rref) | UserAccept(rref):
                return self.rref(rref)
            case Call(call):
                return self.calls[source, call]
            case Return(call):
                return f"r{call - REPLIES}"
            case FetchCall(fetch=fetch):
                return self.fetches[source, fetch]
            case FetchReturn(fetch=fetch):
                return self.fetches[target, fetch]
            case CallFailed(call, forks):
                return self.made[self.fork(forks[0].fork)].carrier if forks else self.calls[target, call]  # type: ignore[index]
            case ForwardCall() | Control() | Ack() | Excluded():
                raise ValueError(f"{message} is about no move")
