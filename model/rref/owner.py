"""The owner's side: one entry for each RRef it owns. Everything that changes such an entry is in this file.

Theory of operation. An owner keeps, for each RRefId, an entry with a value (or the promise of one), the set of forks it
counts, and the local references: code on the owner that uses the entry. The entry may go when nobody can name it any more.
Three facts make that hard, and each is answered by a rule:

* An entry can be *named before it exists*. Messages overtake each other, so a function on the owner may receive an RRef
  whose RemoteCall is still on its way. It then gets an entry that is EXPECTED: without a value, and without the creator's
  fork. Such an entry has no forks, and that means nothing: the creator lives, the owner just has not heard (R21).
* A value may take *arbitrarily long*. If the creator were counted only when its function ends, the owner would not know it
  until then. So a creation is registered when its call arrives, in one step (R10, R11), and the end only brings the value.
* Code on the owner uses the entry *without a fork*. Running functions, waiting ones and handles are local references; an
  entry with none of them, with no forks, and created, is the only one that may go (R22).

Each handler has three beats: what must hold, what changes, what is sent. It gets the entry and gives back the entry and
the messages to send, and it never sees a user's record or another entry: that is all an owner knows.

Not pretty: `duplicated` and the phase GONE are history, kept so that properties can speak of it. No handler of SOUND looks
at them; to the owner, GONE is ABSENT. What the application really holds and waits for is in `application.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, IntEnum
from typing import Final, NamedTuple, assert_never

from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.rules import RRefRules
from farref.model.tables import stays, to, transitions
from farref.model.values import IdSet, no_ids


class Entry(IntEnum):
    """The life of an entry."""

    ABSENT = 0  # not in the table
    EXPECTED = 1  # named on the owner before its creation arrived
    CREATED = 2  # registered; the function that computes the value runs
    READY = 3  # has its value, or an error in place of one
    GONE = 4  # no longer in the table


ABSENT, EXPECTED, CREATED, READY, GONE = Entry

# fmt: off
TRANSITIONS: Final = transitions(
    # event               in phase                             may lead to, and send
    (act.CreateLocal,     (ABSENT,),                           to(READY)),
    (act.CreateOnSelf,    (ABSENT,),                           to(CREATED)),
    (msg.RemoteCall,      (ABSENT, EXPECTED),                  to(CREATED, msg.UserAccept)),
    (msg.CreateFailed,    (ABSENT, EXPECTED),                  to(READY, msg.FetchReturn)),
    (act.FinishFunction,  (CREATED,),                          to(READY, msg.FetchReturn) | to(GONE)),
    (act.OwnerShare,      (EXPECTED, CREATED, READY),          stays(msg.Call, msg.Return)),
    (msg.Call,            (ABSENT,),                           to(EXPECTED, msg.ChildAccept)),
    (msg.Call,            (EXPECTED, CREATED, READY),          stays(msg.ChildAccept)),
    (msg.Return,          (ABSENT,),                           to(EXPECTED, msg.ChildAccept)),
    (msg.Return,          (EXPECTED, CREATED, READY),          stays(msg.ChildAccept)),
    (msg.CallFailed,      (EXPECTED, CREATED),                 stays()),
    (msg.CallFailed,      (READY,),                            stays() | to(GONE)),
    (msg.ForkRequest,     (ABSENT, EXPECTED, CREATED, READY),  stays()),
    (msg.UserDelete,      (ABSENT, EXPECTED, CREATED),         stays()),
    (msg.UserDelete,      (READY,),                            stays() | to(GONE)),
    (act.OwnerLetGo,      (EXPECTED, CREATED),                 stays()),
    (act.OwnerLetGo,      (READY,),                            stays() | to(GONE)),
    (msg.FetchCall,       (ABSENT, EXPECTED, CREATED),         stays()),
    (msg.FetchCall,       (READY,),                            stays(msg.FetchReturn)),
)
# fmt: on
"""What can happen to an entry where all rules are followed. Nothing happens to one that is GONE."""


class OwnerRRef(NamedTuple):
    """What the owner knows of one RRef (R8)."""

    phase: Entry
    forks: IdSet  # the forks counted
    fetches: IdSet  # the forks whose fetch is parked until there is a value
    running: bool = False  # the function that computes the value runs
    held: bool = False  # code on the owner holds the RRef
    waiting: bool = False  # code on the owner is blocked until there is a value (early use)
    registering: bool = False  # entry made, creator's fork not yet registered: only without `registers_atomically`
    duplicated: bool = False  # a second entry was made for this RRefId


class Need(Enum):
    """What an entry is kept for. An entry that is kept for nothing goes."""

    FORK = "a fork is counted"
    CREATION = "its creation has not arrived"  # so nobody knows yet which forks there are (R21)
    WAITER = "code waits for its value"
    HANDLE = "code holds it"
    FUNCTION = "the function that computes it runs"


Step = tuple[OwnerRRef, tuple[msg.Message, ...]]


def absent(forks: int) -> OwnerRRef:
    """Make the record of an RRef that nobody has created yet, where `forks` forks are possible."""
    return OwnerRRef(Entry.ABSENT, no_ids(forks), no_ids(forks))


def is_listed(owner: OwnerRRef) -> bool:
    """Say whether the entry is in the owner's table."""
    return owner.phase not in (Entry.ABSENT, Entry.GONE)


# -- staying and going -------------------------------------------------------------------------------------------------


def needs(owner: OwnerRRef) -> Iterator[Need]:
    """List what there is to keep an entry for, whether or not the rules heed it."""
    if not owner.forks.is_empty():
        yield Need.FORK
    if owner.phase is Entry.EXPECTED:
        yield Need.CREATION
    if owner.waiting:
        yield Need.WAITER
    elif owner.held:
        yield Need.HANDLE
    if owner.running:
        yield Need.FUNCTION


def stays_for(owner: OwnerRRef, rules: RRefRules) -> Iterator[Need]:
    """List what an entry is kept for (R21, R22). An entry without forks that is EXPECTED is kept for its creation, or not."""
    return (need for need in needs(owner) if _is_heeded(need, owner, rules))


def _is_heeded(need: Need, owner: OwnerRRef, rules: RRefRules) -> bool:
    match need:
        case Need.FORK:
            return True
        case Need.CREATION:
            return rules.entry_waits_for_creation
        case Need.WAITER | Need.HANDLE | Need.FUNCTION:
            return rules.entry_counts_local_references and owner.phase is not Entry.EXPECTED
        case _:
            assert_never(need)


def _settle(owner: OwnerRRef, rules: RRefRules) -> OwnerRRef:
    """Remove the entry if nobody can name it any more (R21, R22)."""
    if not is_listed(owner) or any(stays_for(owner, rules)):
        return owner
    return owner._replace(phase=Entry.GONE, waiting=False, fetches=no_ids(len(owner.fetches)))


# -- creation ----------------------------------------------------------------------------------------------------------


def create_local(owner: OwnerRRef) -> Step:
    """Wrap a value that is already here, `RRef(value)` (R13)."""
    return owner._replace(phase=Entry.READY, held=True), ()


def create_on_self(owner: OwnerRRef) -> Step:
    """Run a function on oneself and keep its result, `remote(self)`: registered before anything is sent (R12)."""
    return owner._replace(phase=Entry.CREATED, running=True, held=True), ()


def on_remote_call(owner: OwnerRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step:
    """Register a creation as its call arrives, and start the function (R10)."""
    if not rules.registers_on_receipt:
        return owner._replace(running=True), ()
    return _register(_enter(owner, Entry.CREATED)._replace(running=True), rref, fork, rules)


def finish_function(owner: OwnerRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step | None:
    """End the function that computes the value: who waited for it gets it (R23)."""
    if not owner.running:
        return None
    if owner.phase is Entry.CREATED:
        ready, sends = _answer(owner._replace(phase=Entry.READY, running=False), rref)
        return _settle(ready, rules), sends
    if rules.registers_on_receipt:
        return owner._replace(running=False), ()  # the entry went while the function ran: its value goes with it
    ready, sends = _answer(_enter(owner, Entry.READY)._replace(running=False), rref)
    registered, accept = _register(ready, rref, fork, rules)
    return registered, sends + accept


def register_creator(owner: OwnerRRef, rref: RRefId, fork: ForkId) -> Step | None:
    """Register the creator's fork in a step of its own: only without `registers_atomically` (R11)."""
    if not owner.registering:
        return None
    return owner._replace(registering=False, forks=owner.forks.add(fork)), (msg.UserAccept(rref, fork),)


def on_create_failed(owner: OwnerRRef, rref: RRefId, fork: ForkId) -> Step:
    """Keep an error in place of the value whose creation could not be sent (R29)."""
    ready, sends = _answer(_enter(owner, Entry.READY), rref)
    return ready._replace(forks=ready.forks.add(fork)), sends


def fail_creation(owner: OwnerRRef, rref: RRefId, rules: RRefRules) -> Step:
    """Keep an error in place of the value whose creator is lost (R34)."""
    ready, sends = _answer(owner._replace(phase=Entry.READY), rref)
    return _settle(ready, rules), sends


# -- sharing -----------------------------------------------------------------------------------------------------------


def share(owner: OwnerRRef, child: ForkId, carrier: msg.Call | msg.Return, rules: RRefRules) -> Step | None:
    """Share with a user, or with oneself: count the fork first, then send it (R14)."""
    if not owner.held or not is_listed(owner):
        return None
    forks = owner.forks.add(child) if rules.owner_registers_shares else owner.forks
    return owner._replace(forks=forks), (carrier,)


def on_share_from_user(owner: OwnerRRef, carrier: msg.Call | msg.Return) -> Step:
    """Receive one's own RRef from a user: hold the entry, and accept at once (R19)."""
    return _hold(owner, carrier), (msg.ChildAccept(carrier.rref, carrier.fork),)


def on_share_from_self(owner: OwnerRRef, carrier: msg.Call | msg.Return, rules: RRefRules) -> Step:
    """Receive one's own RRef from oneself: the local reference takes the place of the fork (R19)."""
    held = _hold(owner, carrier)
    return _settle(held._replace(forks=held.forks.remove(carrier.fork)), rules), ()


def on_call_failed(owner: OwnerRRef, fork: ForkId, rules: RRefRules) -> Step:
    """Withdraw a fork whose message nobody could use (R28)."""
    if not rules.withdraws_failed_shares:
        return owner, ()
    return _settle(owner._replace(forks=owner.forks.remove(fork)), rules), ()


# -- counting ----------------------------------------------------------------------------------------------------------


def on_fork_request(owner: OwnerRRef, fork: ForkId) -> Step:
    """Count a fork that one user gave to another, whether or not its creation has arrived (R16)."""
    return owner._replace(forks=owner.forks.add(fork)), ()


def on_user_delete(owner: OwnerRRef, fork: ForkId, rules: RRefRules) -> Step:
    """Stop counting a fork (R26). One that is not counted is ignored: PyTorch needs that, SOUND never sees it."""
    if fork not in owner.forks:
        return owner, ()
    return _settle(owner._replace(forks=owner.forks.remove(fork)), rules), ()


def let_go(owner: OwnerRRef, rules: RRefRules) -> Step | None:
    """Code on the owner lets go of the RRef. A function that still waits for the value cannot (R22)."""
    if not owner.held or owner.waiting:
        return None
    free = owner._replace(held=False)
    # What is not created yet is not for a handle to remove. Nor is it in PyTorch, where only deleting a fork removes entries.
    if owner.phase is Entry.EXPECTED or owner.registering:
        return free, ()
    return _settle(free, rules), ()


# -- fetching ----------------------------------------------------------------------------------------------------------


def on_fetch_call(owner: OwnerRRef, rref: RRefId, fork: ForkId) -> Step:
    """Send the value, or park the fetch until there is one (R20)."""
    if owner.phase is Entry.READY:
        return owner, (msg.FetchReturn(rref, fork),)
    return owner._replace(fetches=owner.fetches.add(fork)), ()


def forget_fetch(owner: OwnerRRef, fork: ForkId) -> OwnerRRef:
    """Answer a fetch no more: whoever asked is lost to the owner (R34, R37)."""
    return owner._replace(fetches=owner.fetches.remove(fork))


# -- what the handlers share -------------------------------------------------------------------------------------------


def _enter(owner: OwnerRRef, phase: Entry) -> OwnerRRef:
    """Put an entry into the table, or go on with the one that is there."""
    return owner._replace(phase=phase, duplicated=owner.duplicated or owner.phase is Entry.GONE)


def _register(owner: OwnerRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step:
    """Count the creator's fork and tell the creator (R11)."""
    if not rules.registers_atomically:
        return owner._replace(registering=True), ()
    return owner._replace(forks=owner.forks.add(fork)), (msg.UserAccept(rref, fork),)


def _hold(owner: OwnerRRef, carrier: msg.Call | msg.Return) -> OwnerRRef:
    """Let code on the owner hold the entry; a function that received it as argument waits for the value (R21)."""
    listed = owner if is_listed(owner) else _enter(owner, Entry.EXPECTED)
    early = listed.phase is not Entry.READY and type(carrier) is msg.Call
    return listed._replace(held=True, waiting=listed.waiting or early)


def _answer(owner: OwnerRRef, rref: RRefId) -> Step:
    """Give the value to everyone who waits for it."""
    returns = tuple(msg.FetchReturn(rref, ForkId(fork)) for fork in owner.fetches.members())
    return owner._replace(waiting=False, fetches=no_ids(len(owner.fetches))), returns
