"""The user's side: one record for each fork a worker holds of an RRef it does not own. Everything that changes it is here.

Theory of operation. A user goes through three phases: PENDING, while it does not know that the owner counts its fork;
CONFIRMED; and ABSENT again once it is deleted. Deleting is the delicate part, because the owner drops the value when the
last fork it counts is deleted. So a user may only go when (`needs`, `_release`)

* the application has let go of its handle,
* the owner counts the fork, so that the delete cannot overtake the registration (R25),
* every child accepted, which it does once the owner counts *it* (R24): until then this user is what keeps the value alive,
* no fetch of its is under way, even one whose caller gave up (R20): a fetch names the value as much as a handle does.

A timeout is absent from this list on purpose. It is an answer to the application; the owner did not hear of it (R27).

Each handler has three beats: what must hold, what changes, what is sent. It gets one user's record and gives back that
record and the messages to send: a user knows nothing else, not even the other users on its worker.

Not pretty: `owes_accept` and the phase UNTOLD exist only where a rule is switched off.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, IntEnum
from typing import Final, NamedTuple

from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.rules import RRefRules
from farref.model.tables import stays, to, transitions
from farref.model.values import IdSet, no_ids


class User(IntEnum):
    """What a user knows of its own fork (R9)."""

    ABSENT = 0  # not received yet, or deleted
    PENDING = 1  # not known to be counted by the owner
    CONFIRMED = 2  # counted by the owner
    UNTOLD = 3  # counted, but `confirmed_by_owner()` says no: only without `confirms_forks_from_owner`


ABSENT, PENDING, CONFIRMED, UNTOLD = User

# fmt: off
TRANSITIONS: Final = transitions(
    # event                        in phase               may lead to, and send
    (act.CreateRemote,             (ABSENT,),             to(PENDING, msg.RemoteCall)),
    (msg.Call,                     (ABSENT,),             to(PENDING, msg.ForkRequest) | to(CONFIRMED)),
    (msg.Return,                   (ABSENT,),             to(PENDING, msg.ForkRequest) | to(CONFIRMED)),
    (msg.UserAccept,               (PENDING,),            to(CONFIRMED) | to(ABSENT, msg.UserDelete)),
    ((msg.Ack, msg.CreateFailed),  (PENDING,),            to(CONFIRMED) | to(ABSENT, msg.UserDelete)),
    ((msg.Ack, msg.ForkRequest),   (PENDING,),            to(CONFIRMED, msg.ChildAccept)
                                                          | to(ABSENT, msg.ChildAccept, msg.UserDelete)),
    (msg.RemoteFailed,             (PENDING,),            stays(msg.CreateFailed)),
    (act.TimeOutCreation,          (PENDING,),            stays()),
    (act.UserShare,                (PENDING, CONFIRMED),  stays(msg.Call, msg.Return)),
    (act.FetchValue,               (PENDING, CONFIRMED),  stays(msg.FetchCall)),
    (act.AbandonFetch,             (PENDING, CONFIRMED),  stays()),
    (act.LetGo,                    (PENDING,),            stays()),
    (act.LetGo,                    (CONFIRMED,),          stays() | to(ABSENT, msg.UserDelete)),
    (msg.ChildAccept,              (PENDING,),            stays()),
    (msg.ChildAccept,              (CONFIRMED,),          stays() | to(ABSENT, msg.UserDelete)),
    (msg.CallFailed,               (PENDING,),            stays()),
    (msg.CallFailed,               (CONFIRMED,),          stays() | to(ABSENT, msg.UserDelete)),
    (msg.FetchReturn,              (PENDING,),            stays()),
    (msg.FetchReturn,              (CONFIRMED,),          stays() | to(ABSENT, msg.UserDelete)),
)
# fmt: on
"""What can happen to a user where all rules are followed."""


class Handle(IntEnum):
    """What the application holds."""

    NONE = 0
    PARKED = 1  # an argument of a call that waits until the fork is confirmed
    HELD = 2
    TIMED_OUT = 3  # still held, but every use is refused: its creation timed out


class Fetch(IntEnum):
    """Where this user's fetch stands."""

    NONE = 0
    WAITING = 1  # the application waits for the value
    ABANDONED = 2  # the application gave up; the answer is still to come


class UserRRef(NamedTuple):
    """What a worker knows of one fork it holds (R9)."""

    phase: User
    handle: Handle
    children: IdSet  # the forks made from this one that have not accepted yet
    fetch: Fetch = Fetch.NONE
    owes_accept: bool = (
        False  # confirmed, but accepts only when its function ends: only without `accepts_before_user_code`
    )


class Need(Enum):
    """What a user stays for after the application let go of it. The value is the rule that says so."""

    CONFIRMATION = "user_waits_for_confirmation"
    CHILDREN = "parent_waits_for_children"
    FETCH = "fetch_pins_user"


Step = tuple[UserRRef, tuple[msg.Message, ...]]


def absent(forks: int) -> UserRRef:
    """Make the record of a fork nobody holds, where `forks` forks are possible."""
    return UserRRef(User.ABSENT, Handle.NONE, no_ids(forks))


def is_usable(user: UserRRef) -> bool:
    """Say whether the application may share the RRef and fetch its value."""
    return user.handle is Handle.HELD


def is_held(user: UserRRef) -> bool:
    """Say whether the application has a handle to let go of. One whose creation timed out has, though it is of no use."""
    return user.handle is Handle.HELD or user.handle is Handle.TIMED_OUT


# -- staying and going -------------------------------------------------------------------------------------------------


def needs(user: UserRRef) -> Iterator[Need]:
    """List what there is to stay for, whether or not the rules heed it."""
    if user.phase is User.PENDING:
        yield Need.CONFIRMATION
    if not user.children.is_empty():
        yield Need.CHILDREN
    if user.fetch is not Fetch.NONE:
        yield Need.FETCH


def stays_for(user: UserRRef, rules: RRefRules) -> Iterator[Need]:
    """List what a user that nobody holds stays for (R20, R24, R25)."""
    return (need for need in needs(user) if getattr(rules, need.value))


def _release(user: UserRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step:
    """Delete the user if nothing needs it any more, and tell the owner (R26)."""
    if user.handle is not Handle.NONE or user.owes_accept or user.phase is User.ABSENT:
        return user, ()
    if any(stays_for(user, rules)):
        return user, ()
    return absent(len(user.children)), (msg.UserDelete(rref, fork),)


# -- coming into being -------------------------------------------------------------------------------------------------


def create_remote(user: UserRRef, rref: RRefId, fork: ForkId) -> Step:
    """Create an RRef on another worker; the handle can be used at once (R10)."""
    return user._replace(phase=User.PENDING, handle=Handle.HELD), (msg.RemoteCall(rref, fork),)


def on_share_from_owner(user: UserRRef, rules: RRefRules) -> Step:
    """Receive a fork from the owner, which counted it before sending it (R15)."""
    phase = User.CONFIRMED if rules.confirms_forks_from_owner else User.UNTOLD
    return user._replace(phase=phase, handle=Handle.HELD), ()


def on_share_from_user(user: UserRRef, carrier: msg.Call | msg.Return, rules: RRefRules) -> Step:
    """Receive a fork from another user: ask the owner to count it. A call waits for the answer, a result does not (R16)."""
    handle = Handle.PARKED if type(carrier) is msg.Call else Handle.HELD
    request = msg.ForkRequest(carrier.rref, carrier.fork)
    early = () if rules.accepts_after_confirmation else (msg.ChildAccept(carrier.rref, carrier.fork),)
    return user._replace(phase=User.PENDING, handle=handle), (request, *early)


# -- being confirmed ---------------------------------------------------------------------------------------------------


def on_creation_confirmed(user: UserRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step:
    """Learn that the owner counts the creator's fork (R10)."""
    if user.phase is not User.PENDING:
        return user, ()
    return _release(user._replace(phase=User.CONFIRMED), rref, fork, rules)


def on_fork_confirmed(user: UserRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step:
    """Learn that the owner counts this child: accept towards the parent, let the parked call run (R17, R18)."""
    if user.phase is not User.PENDING:
        return user, ()
    runs = user.handle is Handle.PARKED
    owes = runs and rules.accepts_after_confirmation and not rules.accepts_before_user_code
    confirmed = user._replace(phase=User.CONFIRMED, handle=Handle.HELD if runs else user.handle, owes_accept=owes)
    accept = (msg.ChildAccept(rref, fork),) if rules.accepts_after_confirmation and not owes else ()
    released, deletes = _release(confirmed, rref, fork, rules)
    return released, accept + deletes


def end_call(user: UserRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step | None:
    """Accept as the function that received the fork ends: only without `accepts_before_user_code` (R18)."""
    if not user.owes_accept:
        return None
    released, deletes = _release(user._replace(owes_accept=False), rref, fork, rules)
    return released, (msg.ChildAccept(rref, fork), *deletes)


def on_remote_failed(user: UserRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step:
    """Learn that the creation was never sent: have it created as an error, for the sake of forks already shared (R29)."""
    return user, (msg.CreateFailed(rref, fork),) if rules.fails_creation_as_error else ()


def orphaned(user: UserRRef) -> UserRRef:
    """End what a user waits for that has lost its owner. With its handle it goes, and tells nobody (R34)."""
    if user.handle in (Handle.NONE, Handle.PARKED):
        return absent(len(user.children))
    return user._replace(fetch=Fetch.NONE, owes_accept=False)


# -- being used --------------------------------------------------------------------------------------------------------


def share(user: UserRRef, child: ForkId, carrier: msg.Call | msg.Return) -> Step | None:
    """Share with another worker: stay until the child has accepted (R16, R19, R24)."""
    if not is_usable(user):
        return None
    return user._replace(children=user.children.add(child)), (carrier,)


def on_child_accept(user: UserRRef, rref: RRefId, fork: ForkId, child: ForkId, rules: RRefRules) -> Step:
    """Learn that the owner counts a child (R24)."""
    return _release(user._replace(children=user.children.remove(child)), rref, fork, rules)


def on_call_failed(user: UserRRef, rref: RRefId, fork: ForkId, child: ForkId, rules: RRefRules) -> Step:
    """Withdraw a child whose message nobody could use (R28)."""
    if not rules.withdraws_failed_shares:
        return user, ()
    return on_child_accept(user, rref, fork, child, rules)


def fetch(user: UserRRef, rref: RRefId, fork: ForkId) -> Step | None:
    """Ask for the value, `to_here()` (R20)."""
    if not is_usable(user) or user.fetch is not Fetch.NONE:
        return None
    return user._replace(fetch=Fetch.WAITING), (msg.FetchCall(rref, fork),)


def on_fetch_return(user: UserRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step:
    """Receive the value, wanted or no longer wanted (R20)."""
    return _release(user._replace(fetch=Fetch.NONE), rref, fork, rules)


# -- timeouts and the end ----------------------------------------------------------------------------------------------


def time_out_creation(user: UserRRef) -> Step | None:
    """Tell the application that its creation takes too long; every further use of the handle is refused (R27)."""
    if user.phase is not User.PENDING or not is_usable(user):
        return None
    return user._replace(handle=Handle.TIMED_OUT), ()


def time_out_creation_as_confirmed(user: UserRRef) -> Step | None:
    """Take the timeout for an answer of the owner: only without `timeout_is_only_an_answer` (R27)."""
    timed_out = time_out_creation(user)
    return timed_out and (timed_out[0]._replace(phase=User.CONFIRMED), ())


def abandon_fetch(user: UserRRef) -> Step | None:
    """Tell the application that its fetch takes too long; the answer will still come (R20, R27)."""
    if user.fetch is not Fetch.WAITING:
        return None
    return user._replace(fetch=Fetch.ABANDONED), ()


def let_go(user: UserRRef, rref: RRefId, fork: ForkId, rules: RRefRules) -> Step | None:
    """The application lets go of its handle. Code that runs with it, or waits for its value, cannot (R26)."""
    if not is_held(user) or user.fetch is Fetch.WAITING or user.owes_accept:
        return None
    return _release(user._replace(handle=Handle.NONE), rref, fork, rules)
