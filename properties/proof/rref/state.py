"""What there is: forks and RRefs, any number of each, and what can be true of them.

Nearly everything is a property of one fork or of one RRef. The only relation between two things is `parent`. Sets that owners
and users keep became properties of their members. A user's set of children is one of them: a fork has one parent, so
`kept(f)` says that f's parent still lists it. Workers are not there at all. What matters of them is which RRef a fork belongs
to, and whether the fork was made for the owner itself.

A message is a property of the fork it is about: it is under way, or it is not. Nothing bounds how often it is lost or copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.properties.proof.logic.formulas import Applied, Formula, Related, Sort, Term, any_of, none_of
from farref.properties.proof.logic.relations import Relation, Relations, part, relation

FORK: Final = Sort("Fork", "f")
RREF: Final = Sort("RRef", "x")


def rref_of(fork: Term) -> Term:
    """Name the RRef that a fork belongs to."""
    return Applied("rref_of", (fork,), RREF)


def for_owner(fork: Term) -> Formula:
    """Say that a fork is meant for the owner itself (R19)."""
    return Related("for_owner", (fork,))


@dataclass(frozen=True)
class Control(Relations):
    """One kind of control message about a fork, with what its two ends remember (R5 to R7)."""

    flying: Relation = relation("has a {part} under way", FORK)  # for the first time or again
    unanswered: Relation = relation("waits for the Ack of its {part}", FORK)
    processed: Relation = relation("has had the effect of its {part}", FORK)
    answering: Relation = relation("has the Ack of its {part} under way", FORK)

    def concerns(self, fork: Term) -> Formula:
        """Say that such a message was ever sent."""
        return any_of(self.flying(fork), self.unanswered(fork), self.processed(fork), self.answering(fork))

    def is_due(self, fork: Term) -> Formula:
        """Say that it was sent and has not taken effect."""
        return self.unanswered(fork) & ~self.processed(fork)


CONTROL: Final = ("fork_request", "child_accept", "user_delete", "create_failed")


@dataclass(frozen=True)
class State(Relations):
    """Everything that can be true."""

    # A fork as it was minted (R2)
    minted: Relation = relation("exists", FORK)
    remote: Relation = relation("is the creator's own", FORK)
    has_parent: Relation = relation("was made by a user", FORK)  # otherwise by the owner, or by remote()
    parent: Relation = relation("was made from {}", FORK, FORK)

    # What its owner knows of it (R8)
    counted: Relation = relation("is counted", FORK)
    fetch_parked: Relation = relation("has a fetch that waits on the owner", FORK)

    # What its user knows (R9)
    pending: Relation = relation("is pending", FORK)  # the user does not know that it is counted
    confirmed: Relation = relation("is confirmed", FORK)  # the user knows
    parked: Relation = relation("is the argument of a parked call", FORK)  # which waits until the fork is confirmed
    held: Relation = relation("is held by the application", FORK)
    timed_out: Relation = relation("is held, but timed out", FORK)  # every use of it is refused
    asking: Relation = relation("has a fetch that somebody waits for", FORK)
    given_up: Relation = relation("has a fetch that nobody waits for", FORK)  # the answer is still to come

    # What its parent knows (R9)
    kept: Relation = relation("is listed by its parent", FORK)  # as a child that has not accepted

    # User calls under way (R4)
    remote_call: Relation = relation("has a RemoteCall under way", FORK)
    user_accept: Relation = relation("has a UserAccept under way", FORK)
    remote_failed: Relation = relation("has a RemoteFailed under way", FORK)
    call: Relation = relation("travels in a Call", FORK)
    result: Relation = relation("travels in a Return", FORK)
    call_failed: Relation = relation("has a CallFailed under way", FORK)
    fetch_call: Relation = relation("has a FetchCall under way", FORK)
    fetch_return: Relation = relation("has a FetchReturn under way", FORK)
    fetch_failed: Relation = relation("has the report of a failed fetch under way", FORK)

    # Control messages (R5)
    fork_request: Control = part(Control, "ForkRequest")
    child_accept: Control = part(Control, "ChildAccept")
    user_delete: Control = part(Control, "UserDelete")
    create_failed: Control = part(Control, "CreateFailed")

    # An RRef, and its entry on the owner (R8)
    begun: Relation = relation("exists", RREF)  # somebody began to create it
    by_remote: Relation = relation("is created by another worker", RREF)
    expected: Relation = relation("is expected", RREF)  # named on the owner before its creation arrived
    created: Relation = relation("is created", RREF)  # registered; its value is being computed
    ready: Relation = relation("is ready", RREF)  # has its value, or an error in place of one
    gone: Relation = relation("is gone", RREF)  # its entry was dropped
    running: Relation = relation("is being computed", RREF)
    owner_holds: Relation = relation("is held by code on the owner", RREF)
    owner_waits: Relation = relation("is waited for by code on the owner", RREF)

    # History, for properties to speak of. No guard looks at it
    orphaned: Relation = relation("was dropped although somebody waited for it", RREF)
    duplicated: Relation = relation("was entered a second time", RREF)

    def live(self, fork: Term) -> Formula:
        """Say that a worker has a record of this fork."""
        return self.pending(fork) | self.confirmed(fork)

    def travels(self, fork: Term) -> Formula:
        """Say that the fork is on its way to its holder."""
        return self.call(fork) | self.result(fork)

    def handle(self, fork: Term) -> Formula:
        """Say that the application has a handle, of whatever use."""
        return any_of(self.parked(fork), self.held(fork), self.timed_out(fork))

    def fetches(self, fork: Term) -> Formula:
        """Say that a fetch is under way, wanted or no longer wanted."""
        return self.asking(fork) | self.given_up(fork)

    def listed(self, rref: Term) -> Formula:
        """Say that the owner has an entry."""
        return any_of(self.expected(rref), self.created(rref), self.ready(rref))

    def arrived(self, rref: Term) -> Formula:
        """Say that the creation has arrived at the owner, as a call or as an error."""
        return any_of(self.created(rref), self.ready(rref), self.gone(rref))

    def used(self, rref: Term) -> Formula:
        """Say that code on the owner uses the entry (R22)."""
        return any_of(self.running(rref), self.owner_holds(rref), self.owner_waits(rref))

    def uncreated(self, fork: Term) -> Formula:
        """Say that this is the fork of a creation that is still to arrive, as a call or as an error."""
        return any_of(self.remote_call(fork), self.remote_failed(fork), self.create_failed.is_due(fork))

    def control(self, kind: str) -> Control:
        """Give the relations of one kind of control message."""
        found: Control = getattr(self, kind)
        return found

    def with_control(self, kind: str, fork: Term, **values: bool | Formula) -> State:
        """Change what is true of one control message."""
        return self.but(**{kind: self.control(kind).at(fork, **values)})

    def send(self, kind: str, fork: Term) -> State:
        """Send a control message; its sender waits for the Ack from now on (R6)."""
        return self.with_control(kind, fork, flying=True, unanswered=True)

    def silent(self, fork: Term) -> Formula:
        """Say that no control message about a fork was ever sent."""
        return none_of(*(self.control(kind).concerns(fork) for kind in CONTROL))
