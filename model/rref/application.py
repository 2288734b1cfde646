"""The application's side of a world: what it was really given, and what it really waits for. No handler sees this.

Theory of operation. The tables of owner and user say who holds an RRef and who waits for its value, because the protocol has to
know. A handler that spoiled such a flag would fool every property that believes the flag. So the application keeps a record
of its own, from what it does and from what arrives: a handle is held from the moment it was given until the application lets
go, whatever a table says. The properties ask this record, and one of them (G3) asks that the tables say the same.

Two facts are the protocol's to decide, and are taken from it. A call that waits for its argument to be counted runs when the
request for that is answered (R16). A wait ends when the entry has its value; if the entry goes first, whoever waits for it is
`orphaned`, for ever.

This record follows from the run alone, under any rules: it makes no two worlds out of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, FailCall, Install, Retry
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.links import has_lost
from farref.model.rref.network import is_unanswered
from farref.model.rref.owner import Entry, is_listed
from farref.model.rref.user import Handle
from farref.model.values import IdSet, Table, no_ids

if TYPE_CHECKING:
    from farref.model.rref.world import Bounds, World

TOUCHES_ENTRY = (msg.Call, msg.Return, msg.CallFailed, msg.UserDelete, msg.CreateFailed)
"""The messages that may complete or drop an entry."""


class Application(NamedTuple):
    """What the code above the protocol has and wants."""

    holds: IdSet  # by RRefId: code on the owner holds it
    waits: IdSet  # by RRefId: code on the owner waits for its value
    orphaned: IdSet  # by RRefId: somebody waits for the value of an entry that was dropped
    has: Table[Handle]  # by ForkId: the handle that the fork's holder was given
    asks: IdSet  # by ForkId: the fork's holder waits for the value


def idle(rrefs: int, forks: int) -> Application:
    """Make an application that has not begun anything."""
    nothing = no_ids(rrefs)
    return Application(nothing, nothing, nothing, Table((Handle.NONE,) * forks), no_ids(forks))


# -- what it may do ----------------------------------------------------------------------------------------------------


def may_let_go_on_owner(application: Application, rref: RRefId) -> bool:
    """Say whether code on the owner has something to let go of. Code that waits for the value cannot (R22)."""
    return rref in application.holds and rref not in application.waits


def may_let_go(application: Application, fork: ForkId) -> bool:
    """Say whether a holder has something to let go of. Code that waits for the value cannot (R26)."""
    return application.has[fork] in (Handle.HELD, Handle.TIMED_OUT) and fork not in application.asks


# -- what it goes through ----------------------------------------------------------------------------------------------


def experience(before: World, action: act.Action, after: World, bounds: Bounds) -> Application:
    """Give the application's record after a step: what it did itself, what it was given, and what it lost."""
    application = before.application
    match action:
        case Deliver(message) | Duplicate(message):
            given = _received(before, message, application, bounds)
            touches = isinstance(message, TOUCHES_ENTRY)
            return _served_or_lost(before, action, after, given, bounds.rref_of(message.fork)) if touches else given
        case DropMessage() | Retry() | FailCall():
            return application
        case act.FinishFunction(rref) | act.OwnerLetGo(rref):
            return _served_or_lost(before, action, after, _began(application, action, bounds), rref)
        case Cut() | Install():
            return _lost(after, application, bounds)
        case act.Reclaim():
            return _reclaimed(before, action, after, application, bounds)
        case _:
            return _began(application, action, bounds)


def _began(application: Application, action: act.Action, bounds: Bounds) -> Application:
    """Take note of what the application does itself."""
    match action:
        case act.CreateLocal(rref) | act.CreateOnSelf(rref):
            return application._replace(holds=application.holds.add(rref))
        case act.CreateRemote(rref):
            return _given(application, bounds.creator_fork(rref), Handle.HELD)
        case act.OwnerLetGo(rref):
            return application._replace(holds=application.holds.remove(rref))
        case act.LetGo(fork):
            return _given(application, fork, Handle.NONE)
        case act.TimeOutCreation(fork):
            return _given(application, fork, Handle.TIMED_OUT)
        case act.FetchValue(fork):
            return application._replace(asks=application.asks.add(fork))
        case act.AbandonFetch(fork):
            return application._replace(asks=application.asks.remove(fork))
        case _:
            return application


def _lost(after: World, application: Application, bounds: Bounds) -> Application:
    """Take note of what ends with an error as somebody is lost: fetches, parked calls, and waits on owners (R34, R37)."""
    for fork in map(ForkId, range(bounds.forks_total)):
        holder = after.lineage[fork].holder
        if holder is not None and has_lost(after, holder, bounds.owner(bounds.rref_of(fork))):
            application = application._replace(asks=application.asks.remove(fork))
            if application.has[fork] is Handle.PARKED:
                application = _given(application, fork, Handle.NONE)
    for rref in map(RRefId, range(bounds.rrefs)):
        if after.owners[rref].phase is Entry.READY:
            application = application._replace(waits=application.waits.remove(rref))
    return application


def _reclaimed(
    before: World, action: act.Reclaim, after: World, application: Application, bounds: Bounds
) -> Application:
    """Take note of waits whose entry goes with what the buried held."""
    for rref in map(RRefId, range(bounds.rrefs)):
        if bounds.owner(rref) == action.worker:
            application = _served_or_lost(before, action, after, application, rref)
    return application


def _received(before: World, message: msg.Message, application: Application, bounds: Bounds) -> Application:
    """Take note of what arrives for the application."""
    match message:
        case msg.Call() | msg.Return():
            return _given_share(before, message, application, bounds)
        case msg.FetchReturn(_, fork):
            return application._replace(asks=application.asks.remove(fork))
        case msg.Ack(msg.ForkRequest(_, fork) as request) if is_unanswered(before.network, request):
            return _given(application, fork, Handle.HELD) if application.has[fork] is Handle.PARKED else application
        case _:
            return application


def _given_share(
    before: World, carrier: msg.Call | msg.Return, application: Application, bounds: Bounds
) -> Application:
    rref, data, is_argument = carrier.rref, before.lineage[carrier.fork], type(carrier) is msg.Call
    if data.holder is not None and has_lost(before, data.holder, bounds.owner(rref)):
        return application  # refused
    if data.holder != bounds.owner(rref):
        parks = is_argument and data.parent is not None
        return _given(application, carrier.fork, Handle.PARKED if parks else Handle.HELD)
    held = application._replace(holds=application.holds.add(rref))
    if is_argument and before.owners[rref].phase is not Entry.READY:
        return held._replace(waits=held.waits.add(rref))
    return held


def _served_or_lost(
    before: World, action: act.Action, after: World, application: Application, rref: RRefId
) -> Application:
    """End a wait whose value has come; or keep for ever that somebody waits for what was dropped."""
    was, now = before.owners[rref], after.owners[rref]
    ended = type(action) is act.FinishFunction and (is_listed(was) or now.phase is Entry.READY)
    if now.phase is Entry.READY or ended:
        application = application._replace(waits=application.waits.remove(rref))
    if now.phase is not Entry.GONE or was.phase is Entry.GONE:
        return application
    is_lost = rref in application.waits or not (ended or was.fetches.is_empty())
    if not is_lost:
        return application
    return application._replace(waits=application.waits.remove(rref), orphaned=application.orphaned.add(rref))


def _given(application: Application, fork: ForkId, handle: Handle) -> Application:
    return application._replace(has=application.has.put(fork, handle))
