"""Which id is which: the neutral names of a run, and the implementation's ids beside them.

The model numbers RRefs and forks, an implementation mints ids (R2). Both mint in the same steps, so whoever performs the
steps can write down the pairs. `Names` also keeps every control message by its number: an answer names the number only.
"""

from __future__ import annotations

from dataclasses import dataclass

from farref.impl.core import ids
from farref.impl.core.messages import (
    Ack,
    AnyMessage,
    Call,
    CallFailed,
    Control,
    ControlBody,
    Excluded,
    FetchCall,
    FetchReturn,
    ForwardCall,
    RemoteCall,
    Return,
    RRefBody,
    UserAccept,
)
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds

Key = tuple[str, str]
"""A message as the model knows it: its kind, and the neutral name of its fork."""

Place = tuple[ids.WorkerId, ids.WorkerId, ids.SequenceNumber]
"""A control message as its sender knows it: who sent it, to whom, and its number."""


@dataclass(frozen=True, slots=True)
class Made:
    """A fork, as whoever shared it knows it."""

    rref: str
    parent: str | None
    holder: ids.WorkerId
    reference: ids.UserReference


class Names:
    """The names given so far."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.rrefs: dict[RRefId, ids.RRefId] = {}
        self.forks: dict[ForkId, ids.UserReference] = {}
        self.holders: dict[ForkId, ids.WorkerId] = {}
        self.created: dict[str, tuple[ids.RRefId, ids.WorkerId]] = {}  # with their owners
        self.made: dict[str, Made] = {}
        self.places: dict[Key, Place] = {}
        self._rref_names: dict[ids.RRefId, str] = {}
        self._fork_names: dict[ids.ForkId, str] = {}
        self._bodies: dict[Place, ControlBody] = {}
        self._minted = [0] * bounds.rrefs

    def enter_rref(self, rref: RRefId, found: ids.RRefId) -> None:
        """Write down the id of an RRef that has just been created."""
        self.rrefs[rref] = found
        self._rref_names[found] = name = f"x{rref}"
        self.created[name] = (found, ids.WorkerId(self.bounds.owner(rref)))

    def enter_fork(self, rref: RRefId, found: ids.ForkId, holder: int, parent: ForkId | None = None) -> None:
        """Write down the id of a fork that has just been minted: the next one of its RRef."""
        fork = ForkId(self.bounds.creator_fork(rref) + self._minted[rref])
        self._minted[rref] += 1
        self.forks[fork] = ids.UserReference(ids.WorkerId(self.bounds.owner(rref)), self.rrefs[rref], found)
        self.holders[fork] = ids.WorkerId(holder)
        self._fork_names[found] = name = f"f{fork}"
        made_from = None if parent is None else f"f{parent}"
        self.made[name] = Made(f"x{rref}", made_from, self.holders[fork], self.forks[fork])

    def enter_control(self, source: ids.WorkerId, target: ids.WorkerId, control: Control) -> None:
        """Write down the number of a control message."""
        place = (source, target, control.number)
        self._bodies[place] = control.body
        self.places[type(control.body).__name__, self._about(control.body)] = place

    def rref(self, found: ids.RRefId) -> str:
        """Name an RRef, or say that nobody created it."""
        return self._rref_names.get(found) or f"unknown {found}"

    def owner(self, found: ids.RRefId) -> ids.WorkerId | None:
        """Say who owns an RRef; None if nobody created it."""
        return self.created[self._rref_names[found]][1] if found in self._rref_names else None

    def fork(self, found: ids.ForkId | None) -> str:
        """Name a fork, or say that nobody minted it."""
        return (self._fork_names.get(found) if found is not None else None) or f"unknown {found}"

    def key(self, source: ids.WorkerId, target: ids.WorkerId, message: AnyMessage) -> Key:
        """Name a message as the model does."""
        match message:
            case Control(body=body):
                return type(body).__name__, self._about(body)
            case Ack(number=number):
                answered = self._bodies.get((target, source, number))
                return (f"Ack({type(answered).__name__})", self._about(answered)) if answered else ("Ack", "nothing")
            case RemoteCall() | UserAccept() | FetchCall() | FetchReturn():
                return type(message).__name__, self.fork(message.fork)
            case Call() | Return() | CallFailed():
                return type(message).__name__, " ".join(self.fork(data.fork) for data in message.forks)
            case ForwardCall():
                return "ForwardCall", str(message.forward)
            case Excluded():
                return "Excluded", f"{source} to {target}"

    def _about(self, body: ControlBody) -> str:
        return self.fork(body.fork) if isinstance(body, RRefBody) else "no fork"
