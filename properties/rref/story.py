"""Tell a run in English, one sentence a step, in the words of the spec.

A sentence begins with what happens (this file) and goes on with what follows from it (`consequences.py`). It is made from the
worlds before and after the step, never from what the protocol should have done: a story is evidence.
"""

from __future__ import annotations

from typing import assert_never

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, Mend, Retry
from farref.model.ids import worker_name
from farref.model.rref.actions import (
    AbandonFetch,
    Bury,
    CreateLocal,
    CreateOnSelf,
    CreateRemote,
    EndCall,
    FetchValue,
    FinishFunction,
    Join,
    LetGo,
    OwnerLetGo,
    OwnerShare,
    Reclaim,
    RegisterCreator,
    Settle,
    Shutdown,
    TimeOutCreation,
    UserShare,
)
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Call, Return
from farref.properties.rref.members.story import happens_to_members
from farref.properties.rref.replay import RRefMoment
from farref.properties.traces.story import befalls


def happens(moment: RRefMoment) -> str:
    """Tell what happens in a step."""
    action, worker = moment.action, moment.worker
    match action:
        case CreateLocal(rref):
            return f"{worker} wraps a value of its own as x{rref}"
        case CreateOnSelf(rref):
            return f"{worker} runs a function on itself and keeps its result as x{rref}"
        case CreateRemote(rref):
            fork = moment.model.bounds.creator_fork(rref)
            asks = f"{worker} asks {moment.owner(rref)} to run a function and keep its result as x{rref}"
            return f"{asks}; {worker} holds fork f{fork} (unconfirmed)"
        case FinishFunction(rref):
            return f"the function that computes x{rref} ends on {worker}"
        case RegisterCreator(rref):
            return f"{worker} registers the creator of x{rref}, in a step of its own"
        case OwnerShare(rref, target, carrier):
            return _shares(worker, worker_name(target), rref, _newest(moment, rref), carrier)
        case UserShare(parent, target, carrier):
            rref = moment.model.bounds.rref_of(parent)
            return _shares(worker, worker_name(target), rref, _newest(moment, rref), carrier)
        case OwnerLetGo(rref):
            return f"the code on {worker} lets go of x{rref}"
        case LetGo(fork):
            return f"{worker} lets go of f{fork}"
        case FetchValue(fork):
            return f"{worker} asks {_owner_of(moment, fork)} for the value, FetchCall(f{fork})"
        case AbandonFetch(fork):
            return f"{worker} gives up waiting for the value it asked for with f{fork}; the answer may still come"
        case TimeOutCreation(fork):
            return f"{worker} gives up waiting for its creation, and refuses every further use of f{fork}"
        case EndCall(fork):
            return f"the function on {worker} that received f{fork} ends"
        case Shutdown() | Cut() | Mend() | Exclude() | Install() | Settle() | Bury() | Reclaim() | Join():
            return happens_to_members(action, moment)
        case Deliver() | Duplicate() | DropMessage() | FailCall() | Retry():
            return befalls(moment)
        case _:
            assert_never(action)


def _shares(source: str, target: str, rref: RRefId, fork: ForkId, carrier: type[Call | Return]) -> str:
    to = "itself" if source == target else target
    how = f"calls {to} with x{rref} as argument" if carrier is Call else f"returns x{rref} to {to}"
    return f"{source} {how}, as fork f{fork}"


def _newest(moment: RRefMoment, rref: RRefId) -> ForkId:
    return ForkId(moment.model.bounds.creator_fork(rref) + moment.before.minted[rref])


def _owner_of(moment: RRefMoment, fork: ForkId) -> str:
    return moment.owner(moment.model.bounds.rref_of(fork))
