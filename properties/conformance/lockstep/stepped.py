"""A backend of the twin that is behind an adapter: each action of the model is a step verb (`kit/steps.py`).

The same translations hold as in the lockstep of our own implementation: a failed call is on its way back until the model
delivers the report; forks with odd numbers are refused by their receiver, the others fail in the transport; copies of one
message arrive together. A *restless* run also sends every control message again that is still under way (R6, R7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, assert_never

import msgspec

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, Mend, Retry
from farref.model.ids import worker_name
from farref.model.messages import kind_of
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import RRefId
from farref.model.rref.world import Bounds
from farref.properties.conformance.conversation.session import OperationFailed
from farref.properties.conformance.kit.steps import LOCKSTEP, Looked, LookedMessage, MessageId
from farref.properties.conformance.lockstep.names import CONTROL, Names, Reference
from farref.properties.conformance.lockstep.seen import FAILED, observation
from farref.properties.rref.observation import Observation
from farref.properties.twin.backend import Refused

Ask = Callable[[str, dict[str, Any]], Any]
"""Asks an adapter for something: the verb, and its arguments."""

Use = act.UserShare | act.LetGo | act.FetchValue | act.AbandonFetch | act.TimeOutCreation
"""What is done with a fork by the application that holds it."""

COPIES_MAX: Final = 2


class Stepped:
    """Some workers behind an adapter that hold everything still."""

    protocol = "rref"

    def __init__(self, ask: Ask, name: str, *, restless: bool = False) -> None:
        self.ask, self.name, self.restless = ask, name, restless
        self.is_started = False

    def start(self, bounds: Bounds) -> None:
        """Begin anew."""
        self._begin_with(bounds, sorted(worker_name(one) for one in bounds.worker_ids))

    def _begin_with(self, bounds: Bounds, workers: list[str]) -> None:
        self._stop()
        self._started = workers
        self.ask("start", {"workers": workers, "options": {LOCKSTEP: True}})
        self.is_started = True
        self.names = Names(bounds)
        self.failed: dict[MessageId, tuple[str, str]] = {}  # calls that will not arrive, which nobody has been told yet
        self._looked: Looked | None = None

    def close(self) -> None:
        """Stop the workers."""
        self._stop()

    def _stop(self) -> None:
        if self.is_started:
            self.is_started = False
            self.ask("stop", {})

    def perform(self, action: act.Action) -> None:
        """Take a step."""
        self._perform(action)
        if self.restless:
            self._stir()

    def attempt(self, action: act.Action) -> bool:
        """Let the application try something that it should be refused."""
        try:
            self._perform(action)
        except OperationFailed as failure:
            if failure.kind != "refused":
                raise
            return False
        return True

    def observe(self) -> Observation:
        """Look at every worker and at the network."""
        return observation(self._look(), self.names, self.failed)

    # Steps

    def _perform(self, action: act.Action) -> None:
        match action:
            case Deliver() | Duplicate() | DropMessage() | Retry() | FailCall():
                self._befall(action)
            case act.CreateRemote(rref, worker):
                self._create(rref, worker_name(worker), "create")
            case act.CreateOnSelf(rref):
                self._create(rref, self.names.owner(rref), "create")
            case act.CreateLocal(rref):
                self._create(rref, self.names.owner(rref), "wrap")
            case act.FinishFunction(rref):
                self._begin("finish", self.names.owned(rref))
            case act.OwnerShare(rref, target, carrier):
                self._share(rref, self.names.owned(rref), worker_name(target), carrier)
            case act.OwnerLetGo(rref):
                self._begin("let go", self.names.owned(rref))
            case act.UserShare() | act.LetGo() | act.FetchValue() | act.AbandonFetch() | act.TimeOutCreation():
                self._use(action, self.names.forks[action.fork])
            case act.Shutdown():
                for one in self.names.workers:
                    self._step("begin", worker=one, what="leave", rref=None, fork=None, to=None)
            case Exclude() | Install() | act.Settle() | act.Bury() | act.Reclaim() | act.Join():
                raise Refused(f"{action}: nobody is excluded here")
            case act.RegisterCreator() | act.EndCall() | Cut() | Mend():
                raise Refused(f"{action} is no step that a backend behind an adapter is asked for")
            case _:
                assert_never(action)

    def _befall(self, action: act.Befalling) -> None:
        """Let something happen to a message."""
        match action:
            case Deliver(message):
                self._deliver(message)
            case Duplicate(message):
                self._step("copy", message=self._flights(message)[0].id)
            case DropMessage(message):
                for flight in self._flights(message):
                    self._step("lose", message=flight.id)
            case Retry(message):  # whatever it is about, the holder of its fork sends it
                self._expire(kind_of(message), self.names.forks[message.fork])
            case FailCall(message):
                self._fail(message)
            case _:
                assert_never(action)

    def _use(self, action: Use, held: Reference) -> None:
        """Let a user do something with its reference, or give up."""
        match action:
            case act.UserShare(fork, target, carrier):
                self._share(self.names.bounds.rref_of(fork), held, worker_name(target), carrier)
            case act.LetGo():
                self._begin("let go", held)
            case act.FetchValue():
                self._begin("fetch", held)
            case act.AbandonFetch():
                self._expire("fetch", held)
            case act.TimeOutCreation():
                self._expire("creation", held)
            case _:
                assert_never(action)

    def _create(self, rref: RRefId, worker: str, what: str) -> None:
        to = None if what == "wrap" else self.names.owner(rref)
        made = self._step("begin", worker=worker, what=what, rref=None, fork=None, to=to)
        self.names.enter_rref(rref, _id(made, "rref"))
        if worker != self.names.owner(rref):
            self.names.enter_fork(rref, _id(made, "fork"), worker)

    def _share(self, rref: RRefId, held: Reference, to: str, carrier: type[msg.Call | msg.Return]) -> None:
        made = self._begin("pass" if carrier is msg.Call else "give", held, to)
        self.names.enter_fork(rref, _id(made, "fork"), to)

    def _begin(self, what: str, held: Reference, to: str | None = None) -> Any:
        return self._step("begin", worker=held.worker, what=what, rref=held.rref, fork=held.fork, to=to)

    def _expire(self, timer: str, held: Reference) -> None:
        self._step("expire", worker=held.worker, timer=timer, rref=held.rref, fork=held.fork)

    def _step(self, verb: str, **request: Any) -> Any:
        self._looked = None
        return self.ask(verb, request)

    # The network

    def _deliver(self, message: msg.Message) -> None:
        wanted = (kind_of(message), f"f{message.fork}")
        for id_, (kind, fork) in self.failed.items():
            if (FAILED[kind], fork) == wanted:
                self._step("fail", message=id_, by="transport")
                del self.failed[id_]
                return
        for flight in self._flights(message):
            self._step("deliver", message=flight.id)

    def _fail(self, message: msg.RemoteCall | msg.Call | msg.Return) -> None:
        flight = self._flights(message)[0]
        if message.fork % 2 and type(message) is not msg.RemoteCall:
            self._step("fail", message=flight.id, by="receiver")
        else:
            self.failed[flight.id] = self.names.message(flight)

    def _flights(self, message: msg.Message) -> Sequence[LookedMessage]:
        wanted = (kind_of(message), f"f{message.fork}")
        found = [
            one for one in self._look().messages if one.id not in self.failed and self.names.message(one) == wanted
        ]
        if not found:
            raise Refused(f"{message} is not under way")
        return found

    def _stir(self) -> None:
        """Send again what is under way and has no answer: to the model that is nothing at all."""
        looked = self._look()
        waiting = {(one.kind, one.fork) for tables in looked.workers.values() for one in tables.unanswered}
        flying = [(one.kind, one.fork) for one in looked.messages if one.kind in CONTROL]
        for kind, fork in sorted(set(flying) & waiting):
            held = next((one for one in self.names.forks.values() if one.fork == fork), None)
            if held is not None and flying.count((kind, fork)) < COPIES_MAX:
                self._expire(kind, held)

    def _look(self) -> Looked:
        if self._looked is None:
            looked = msgspec.convert(self.ask("look", {}), Looked)
            if set(looked.workers) != set(self._started):
                shown, started = ", ".join(sorted(looked.workers)), ", ".join(self._started)
                raise ValueError(f"`look` shows tables of {shown}, and the workers are {started}")
            self._looked = looked
        return self._looked


def _id(made: Any, name: str) -> str:
    match made:
        case {**found} if isinstance(found.get(name), str):
            return str(found[name])
        case _:
            raise ValueError(f"`begin` must say which {name} it has made, as a text, and gives {made!r}")
