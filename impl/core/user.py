"""The user's side: one record for each fork that this worker holds (R9), and when it may go (R26).

A record stays for four reasons: the application holds a handle (or a parked call will), the owner has not confirmed it, a
child has not accepted, a fetch is under way. `_release` looks at all four whenever one of them changes, so no order of
events is special. It removes the record and tells the owner in one step.

A record whose owner was declared dead is an orphan. Nobody is left to tell, and nothing that it waits for can come: it
goes with its last handle.

Everything that changes a record is in this file, and `TRANSITIONS` lists it.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass
from enum import Enum
from typing import Final

from farref.impl.core.channel import Channel
from farref.impl.core.effects import CompleteFetch, Confirmed
from farref.impl.core.here import Here
from farref.impl.core.ids import FetchId, ForkData, ForkId, Reference, RRefId, UserReference, WorkerId
from farref.impl.core.messages import (
    ChildAccept,
    CreateFailed,
    FetchCall,
    ForkRequest,
    UserDelete,
)
from farref.impl.core.slim import EMPTY_DICTIONARY
from farref.impl.core.transitions import SAME, transitions
from farref.impl.errors import LimitReached, PeerDied, ReferenceRefused
from farref.impl.limits import reached


class Phase(Enum):
    """How far a fork has come on the worker that holds it (R9). ABSENT is no record."""

    ABSENT = "absent"
    PENDING = "pending"
    CONFIRMED = "confirmed"
    ORPHANED = "orphaned"


ABSENT, PENDING, CONFIRMED, ORPHANED = Phase

# fmt: off
TRANSITIONS: Final = transitions(
    # handler              in phase                          leads to   and may ask for
    ("create_remote",      (ABSENT,),                        PENDING,   ()),
    ("take_from_owner",    (ABSENT,),                        CONFIRMED, ()),
    ("take_from_user",     (ABSENT,),                        PENDING,   (ForkRequest,)),
    ("confirm",            (PENDING,),                       CONFIRMED, (ChildAccept, Confirmed)),
    ("confirm",            (PENDING,),                       ABSENT,    (ChildAccept, Confirmed, UserDelete)),
    ("time_out_creation",  (PENDING, CONFIRMED, ORPHANED),   SAME,      ()),
    ("creation_failed",    (PENDING, ORPHANED),              SAME,      (CreateFailed,)),
    ("share",              (PENDING, CONFIRMED),             SAME,      ()),
    ("on_child_accept",    (PENDING, CONFIRMED, ORPHANED),   SAME,      ()),
    ("on_child_accept",    (CONFIRMED,),                     ABSENT,    (UserDelete,)),
    ("forget_child",       (PENDING, CONFIRMED, ORPHANED),   SAME,      ()),
    ("forget_child",       (CONFIRMED,),                     ABSENT,    (UserDelete,)),
    ("fetch",              (PENDING, CONFIRMED),             SAME,      (FetchCall,)),
    ("abandon_fetch",      (PENDING, CONFIRMED),             SAME,      ()),
    ("end_fetch",          (PENDING, CONFIRMED),             SAME,      (CompleteFetch,)),
    ("end_fetch",          (CONFIRMED,),                     ABSENT,    (CompleteFetch, UserDelete)),
    ("hold",               (PENDING, CONFIRMED, ORPHANED),   SAME,      ()),
    ("let_go",             (PENDING, CONFIRMED, ORPHANED),   SAME,      ()),
    ("let_go",             (CONFIRMED,),                     ABSENT,    (UserDelete,)),
    ("let_go",             (ORPHANED,),                      ABSENT,    ()),
    ("on_peer_died",       (PENDING, CONFIRMED, ORPHANED),   SAME,      ()),
    ("on_peer_died",       (PENDING, CONFIRMED),             ORPHANED,  (CompleteFetch,)),
    ("on_peer_died",       (PENDING, CONFIRMED),             ABSENT,    (CompleteFetch,)),
    ("forget_children_of", (PENDING, CONFIRMED, ORPHANED),   SAME,      ()),
    ("forget_children_of", (CONFIRMED,),                     ABSENT,    (UserDelete,)),
)
# fmt: on
"""What can happen to a record. `fetch` gives the message that it asks for, as a context may wrap it."""


@dataclass(slots=True)
class Record:
    """What a worker keeps for one fork it holds (R9)."""

    owner: WorkerId
    rref: RRefId
    parent: ForkId | None
    confirmed: bool
    handles: int = 1
    timed_out: bool = False
    orphaned: bool = False
    children: dict[ForkId, WorkerId] = EMPTY_DICTIONARY
    fetches: dict[FetchId, bool] = EMPTY_DICTIONARY
    """The fetches under way; true for one that the application abandoned."""

    @property
    def phase(self) -> Phase:
        """How far this fork has come."""
        if self.orphaned:
            return ORPHANED
        return CONFIRMED if self.confirmed else PENDING

    def may_go(self) -> bool:
        """Say whether nothing keeps this record (R20, R24, R25, R26)."""
        if self.orphaned:
            return not self.handles
        return self.confirmed and not (self.handles or self.children or self.fetches)


class User:
    """All records of one worker."""

    def __init__(self, here: Here, channel: Channel) -> None:
        self.records: dict[ForkId, Record] = {}
        self.parents: dict[ForkId, ForkId] = {}
        """The fork each child was made from: `ChildAccept` names the child only (R5)."""
        self._here, self._emit, self._send, self._waiting = here, here.emit, channel.send, channel.waiting
        self._fetches = 0

    # Beginnings

    def create_remote(self, owner: WorkerId) -> UserReference:
        """Mint an RRef and hold the creator's fork, pending until the owner answers (R2, R10)."""
        limit = self._here.references_max
        if len(self.records) + self._waiting(owner) >= limit:  # what was let go of, and the owner has not been told
            raise LimitReached(reached("so many references are held here", "references_max", limit))
        rref = self._here.new_rref()
        fork = ForkId(rref.created_on, rref.incarnation, rref.number)
        self.records[fork] = Record(owner, rref, parent=None, confirmed=False)
        return UserReference(owner, rref, fork)

    def take_from_owner(self, data: ForkData) -> UserReference:
        """Hold a fork that its owner counted before sending it (R15)."""
        self.records[data.fork] = Record(data.owner, data.rref, parent=None, confirmed=True)
        return UserReference(data.owner, data.rref, data.fork)

    def take_from_user(self, data: ForkData) -> UserReference:
        """Hold a fork that another user made, pending, and ask the owner to count it (R16)."""
        self.records[data.fork] = Record(data.owner, data.rref, data.parent, confirmed=False)
        self._send(data.owner, ForkRequest(data.rref, data.fork))
        return UserReference(data.owner, data.rref, data.fork)

    # Confirmation

    def confirm(self, fork: ForkId) -> None:
        """Note that the owner counts this fork; tell the parent before any user code hears of it (R17, R18)."""
        record = self.records.get(fork)
        if record is None or record.confirmed:
            return
        record.confirmed = True
        if record.parent is not None:
            self._send(fork.created_on, ChildAccept(record.rref, fork))
        self._emit(Confirmed(fork))
        self._release(fork, record)

    def time_out_creation(self, fork: ForkId) -> bool:
        """Refuse every further use of a creation that took too long. No count changes (R27)."""
        record = self.records[fork]
        record.timed_out = record.timed_out or not record.confirmed
        return record.timed_out

    def creation_failed(self, fork: ForkId, reason: str) -> None:
        """Have the error created in place of a value, as the call will never arrive (R29)."""
        record = self.records.get(fork)
        if record is not None and not record.confirmed:
            self._send(record.owner, CreateFailed(record.rref, fork, reason))

    def owner_of(self, fork: ForkId) -> WorkerId | None:
        """Say who owns what a fork held here refers to."""
        record = self.records.get(fork)
        return None if record is None else record.owner

    def is_confirmed(self, fork: ForkId) -> bool:
        """Say whether the owner is known to count this fork (R31)."""
        record = self.records.get(fork)
        return record is not None and record.confirmed

    # Use

    def share(self, parent: ForkId, fork: ForkId, holder: WorkerId) -> None:
        """Note a child before its message leaves (R16, R24)."""
        record = self._usable(parent)
        record.children = record.children or {}
        record.children[fork] = holder
        self.parents[fork] = parent

    def on_child_accept(self, _: WorkerId, message: ChildAccept) -> None:
        """Let a child go that has accepted (R24)."""
        self.forget_child(message.fork)

    def forget_child(self, fork: ForkId) -> None:
        """Let a child go: it has accepted (R24), or its message never arrived (R28)."""
        parent = self.parents.pop(fork, None)
        record = self.records.get(parent) if parent is not None else None
        if parent is not None and record is not None:
            record.children.pop(fork, None)
            self._release(parent, record)

    def fetch(self, fork: ForkId) -> FetchCall:
        """Begin a fetch, and give the message that asks the owner for the value (R20)."""
        record = self._usable(fork)
        self._fetches += 1
        fetch = FetchId(self._fetches)
        record.fetches = record.fetches or {}
        record.fetches[fetch] = False
        return FetchCall(record.rref, fork, fetch)

    def abandon_fetch(self, fork: ForkId, fetch: FetchId) -> None:
        """Give up on a fetch. It pins its user all the same, until it is answered (R20, R27)."""
        record = self.records.get(fork)
        if record is not None and fetch in record.fetches:
            record.fetches[fetch] = True

    def end_fetch(
        self, fork: ForkId, fetch: FetchId, failed: bool, references: tuple[Reference, ...], content: object
    ) -> None:
        """Hand over what a fetch brought, a value, an error or the report that it failed (R20).

        An answer that nobody asked for is thrown away as an abandoned one is, with the references it carries.
        """
        record = self.records.get(fork)
        abandoned = record.fetches.pop(fetch, True) if record else True
        self._emit(CompleteFetch(fetch, abandoned, failed, references, content))
        if record is not None:
            self._release(fork, record)

    def hold(self, fork: ForkId) -> None:
        """Take one more handle of a fork that is held here (R12)."""
        self._held(fork).handles += 1

    def let_go(self, fork: ForkId) -> None:
        """Give up one handle (R26)."""
        record = self._held(fork)
        record.handles -= 1
        self._release(fork, record)

    def let_go_of_everything(self) -> None:
        """Give up every handle (R32)."""
        for fork, record in list(self.records.items()):
            for _ in range(record.handles):
                self.let_go(fork)

    # Death of an owner

    def on_peer_died(self, peer: WorkerId, error: object) -> list[ForkId]:
        """Orphan the records whose owner died, and end their fetches. Say which they are (R34)."""
        orphans = [fork for fork, record in self.records.items() if record.owner == peer]
        for fork in orphans:
            record = self.records[fork]
            for fetch in list(record.fetches):  # an orphan goes with its last handle, and who asked must be told first
                self.end_fetch(fork, fetch, True, (), error)
            record.orphaned = True
            if fork in self.records:
                self._release(fork, record)
        return orphans

    def pending(self) -> list[ForkId]:
        """List the forks that wait for an owner to count them (R39)."""
        return [fork for fork, record in self.records.items() if record.phase is PENDING]

    def forget_children_of(self, gone: Collection[WorkerId]) -> None:
        """Let the children go that the buried held (R42)."""
        for record in list(self.records.values()):
            for child in [child for child, holder in record.children.items() if holder in gone]:
                self.forget_child(child)

    def is_kept_for(self, excluded: Container[WorkerId]) -> bool:
        """Say whether only children on excluded workers keep what is left here (R45)."""
        return all(
            record.confirmed
            and not (record.handles or record.fetches)
            and all(holder in excluded for holder in record.children.values())
            for record in self.records.values()
        )

    # Beneath

    def _held(self, fork: ForkId) -> Record:
        record = self.records.get(fork)
        if record is None or not record.handles:
            raise ReferenceRefused(f"{fork} is not held on this worker any more")
        return record

    def _usable(self, fork: ForkId) -> Record:
        record = self._held(fork)
        if record.timed_out:
            raise ReferenceRefused(f"the creation of {record.rref} timed out; it can only be let go (R27)")
        if record.orphaned:
            raise PeerDied(f"the owner of {record.rref} is dead: {self._here.dead[record.owner]}")
        return record

    def _release(self, fork: ForkId, record: Record) -> None:
        """Delete a user when nothing keeps it, and tell its owner in the same step (R26)."""
        if not record.may_go():
            return
        del self.records[fork]
        for child in record.children:
            self.parents.pop(child, None)
        if not record.orphaned:
            self._send(record.owner, UserDelete(record.rref, fork))
