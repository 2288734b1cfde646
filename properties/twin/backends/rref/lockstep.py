"""An implementation driven by the model's actions, over any network in which nothing happens by itself.

Each action of the model is one step here, with these translations:

* Code on the owner that receives an RRef as argument asks for its value at once: that is the model's `waiting` (R21).
* Where the implementation counts handles, waits and fetches, the model has a flag. Letting go lets go of all handles that the
  application was given, abandoning a fetch abandons all fetches of that fork.
* The model lets a failed call travel back as a message of the network. Here the forks with even numbers fail in the transport,
  which tells its own worker later; those with odd numbers arrive, cannot be read, and are refused by their receiver (R28).
* The model's network is a set. If there are several copies of a message under way, they arrive together and are lost together.
* On a broken link nothing arrives until it is mended. Between real workers the stream itself breaks, and is made again.

A *restless* backend also does what the model calls nothing at all: after each step it sends again what is still under way,
with whatever it now says about older numbers (R7); it lets every answer fail once more, which has to be given again (R3);
and its application asks for a value twice where the model's asks once (R9).
"""

from __future__ import annotations

from typing import Final, assert_never

from farref.impl.core.effects import RunCall, Send
from farref.impl.core.ids import OwnedReference, Reference, WorkerId
from farref.impl.core.messages import CallFailed, Control, FetchReturn, UserAccept
from farref.impl.errors import RpcError
from farref.impl.simulated.network import InFlight
from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, Mend, Retry
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds
from farref.properties.rref.observation import Observation, in_order
from farref.properties.twin.backend import Refused
from farref.properties.twin.backends.rref.application import Application, owned
from farref.properties.twin.backends.rref.calls import Calls
from farref.properties.twin.backends.rref.impl_observer import ImplObserver, Observed
from farref.properties.twin.backends.rref.names import Names, Place
from farref.properties.twin.backends.rref.network import Network
from farref.properties.twin.backends.rref.traffic import Traffic, model_key
from farref.properties.twin.backends.rref.truth import ApplicationTruth
from farref.properties.twin.backends.rref.views import Authority

COPIES_MAX: Final = 2


class Lockstep:
    """Takes the model's actions on a network, and looks at what came of them."""

    def __init__(self, network: Network, bounds: Bounds, *, restless: bool, authority: Authority | None = None) -> None:
        self.network, self.restless, self.authority = network, restless, authority
        self.names, self.application = Names(bounds), Application()
        self.traffic = Traffic(network, self.names)
        self.calls = Calls(self.names, self.application, self.traffic, authority)
        self.observer = ImplObserver(self.names, self.application, self._lost_to)
        self.truth = ApplicationTruth(self.names, self.application)
        self.observed: dict[WorkerId, Observed] = {}
        self.closing: dict[WorkerId, bool] = {}

    def perform(self, action: act.Action) -> None:
        """Take a step, and let the application hear of it."""
        self._perform(action)
        self._hear()
        if self.restless:
            self._stir()
            self._hear()

    def attempt(self, action: act.Action) -> bool:
        """Let the application try to begin something."""
        try:
            self._perform(action)
        except RpcError:
            return False
        return True

    # Steps

    def _perform(self, action: act.Action) -> None:
        match action:
            case Deliver() | Duplicate() | DropMessage() | Retry() | FailCall():
                self._befall(action)
            case act.CreateLocal() | act.CreateOnSelf() | act.CreateRemote():
                self._create(action)
            case act.FinishFunction(rref):
                self._finish(rref)
            case act.OwnerShare(rref, target, carrier):
                self._share(self._owner(rref), OwnedReference(self.names.rrefs[rref]), rref, None, target, carrier)
            case act.UserShare(fork, target, carrier):
                rref = self.names.bounds.rref_of(fork)
                self._share(self.names.holders[fork], self.names.forks[fork], rref, fork, target, carrier)
            case act.OwnerLetGo(rref):
                self._let_go(self._owner(rref), OwnedReference(self.names.rrefs[rref]))
            case act.LetGo(fork):
                self._let_go(self.names.holders[fork], self.names.forks[fork])
            case act.FetchValue(fork):
                self._fetch(fork)
            case act.AbandonFetch(fork):
                self._abandon(fork)
            case act.TimeOutCreation(fork):
                self._time_out(fork)
            case act.Shutdown():
                self.network.shut_down()
            case Exclude() | Install() | act.Settle() | act.Bury() | act.Reclaim() | act.Join():
                self._follow(action)
            case Cut(one, other):
                self.traffic.cut(WorkerId(one), WorkerId(other))
            case Mend(one, other):
                self.traffic.mend(WorkerId(one), WorkerId(other))
            case act.RegisterCreator() | act.EndCall():
                raise Refused(f"{action} is no step of the sound protocol")
            case _:
                assert_never(action)

    def _befall(self, action: act.Befalling) -> None:
        match action:
            case Deliver(message):
                self._deliver(message)
            case Duplicate(message):
                self.network.duplicate(self.traffic.flights(message)[0].id)
            case DropMessage(message):
                for flight in self.traffic.flights(message):
                    self.network.drop(flight.id)
            case Retry(message):
                self.network.retry(*self._place(message))
            case FailCall(message):
                self._fail(message)
            case _:
                assert_never(action)

    def _time_out(self, fork: ForkId) -> None:
        if not self.network.time_out_creation(self.names.holders[fork], self.names.forks[fork]):
            raise Refused(f"the creation of f{fork} is not pending")

    def _follow(self, action: act.OnView) -> None:
        if self.authority is None:
            raise Refused(f"{action}: nobody is excluded here")
        self.authority.take(action, self.network)  # type: ignore[arg-type]

    def _create(self, action: act.CreateLocal | act.CreateOnSelf | act.CreateRemote) -> None:
        rref, owner = action.rref, self._owner(action.rref)
        if isinstance(action, act.CreateRemote):
            worker = WorkerId(action.worker)
            made: Reference = (remote := self.network.create_remote(worker, owner))
            self.names.enter_rref(rref, made.rref)
            self.names.enter_fork(rref, remote.fork, worker)
        else:
            worker, on_self = owner, isinstance(action, act.CreateOnSelf)
            made = self.network.create_on_self(owner) if on_self else self.network.create_local(owner)
            self.names.enter_rref(rref, made.rref)
            self.application.running |= {made.rref} if on_self else set()
        self.application.handles[worker, made] += 1

    def _finish(self, rref: RRefId) -> None:
        found = self.names.rrefs[rref]
        if found not in self.application.running:
            raise Refused(f"the function of x{rref} was never started, or has ended")
        self.application.running.remove(found)
        self.network.finish_function(self._owner(rref), found)

    def _share(
        self,
        worker: WorkerId,
        reference: Reference,
        rref: RRefId,
        parent: ForkId | None,
        to: int,
        carrier: type[msg.Call | msg.Return],
    ) -> None:
        target = WorkerId(to)
        call = None
        if carrier is msg.Call:
            call = self.network.share_as_argument(worker, target, reference)
        else:
            self.network.share_in_result(worker, target, reference)
        [data] = self.network.in_flight()[-1].message.forks  # type: ignore[union-attr]
        self.names.enter_fork(rref, data.fork, target, parent)
        if call is not None:
            self.application.calls[worker, call] = data.fork

    def _let_go(self, worker: WorkerId, reference: Reference) -> None:
        handles = self.application.handles.pop((worker, reference), 0)
        if not handles:
            raise Refused(f"worker {worker} was never given {reference}")
        for _ in range(handles):
            self.network.let_go(worker, reference)

    def _fetch(self, fork: ForkId) -> None:
        worker, reference = self.names.holders[fork], self.names.forks[fork]
        for _ in range(2 if self.restless else 1):
            fetch = self.network.fetch(worker, reference)
            self.application.fetches[worker, fetch] = (reference.fork, False)

    def _abandon(self, fork: ForkId) -> None:
        worker, reference = self.names.holders[fork], self.names.forks[fork]
        for fetch, _ in self.application.asked(worker, reference.fork):
            self.network.abandon_fetch(worker, reference, fetch)
            self.application.fetches[worker, fetch] = (reference.fork, True)

    # The network

    def _deliver(self, message: msg.Message) -> None:
        failed = self.traffic.failed_flight(message)
        if failed is not None:
            del self.traffic.failed[failed.id]
            self.network.fail(failed.id)
            return
        for flight in self.traffic.flights(message):
            self.network.deliver(flight.id)

    def _fail(self, message: msg.RemoteCall | msg.Call | msg.Return) -> None:
        [flight] = self.traffic.flights(message)
        # A refusal of somebody excluded, or over a broken link, would not be; to the model the network says it.
        is_heard = self.authority is None and not self.names.bounds.cuts
        if message.fork % 2 and type(message) is not msg.RemoteCall and is_heard:
            self.network.refuse(flight.id)
        else:
            self.traffic.failed[flight.id] = flight

    def _place(self, message: msg.Control) -> Place:
        place = self.names.places.get(model_key(message))
        if place is None:
            raise Refused(f"{message} was never sent")
        return place

    def _owner(self, rref: RRefId) -> WorkerId:
        return WorkerId(self.names.bounds.owner(rref))

    # What follows from a step

    def _hear(self) -> None:
        """Tell the names and the application everything that has happened, until nothing more does."""
        while self.network.log:
            heard = list(self.network.log)
            self.network.log.clear()
            for worker, effect in heard:
                match effect:
                    case Send(target, Control() as control):
                        self.names.enter_control(worker, target, control)
                    case RunCall(call=call, references=references):
                        self.application.hears(worker, effect)
                        for data in call.forks:
                            accepted = ("ChildAccept", self.names.fork(data.fork)) in self.names.places
                            accepted = accepted or data.fork.created_on in self._lost_to(worker)
                            self.application.must_accept_first(data, accepted)
                        for reference in owned(references):
                            self._wait(worker, reference)
                    case _:
                        self.application.hears(worker, effect)

    def _wait(self, worker: WorkerId, reference: OwnedReference) -> None:
        """Let code that was given an RRef of its own worker ask for the value (R21)."""
        waiter = self.network.await_value(worker, reference)
        self.application.waiters[worker, waiter] = reference.rref

    def _stir(self) -> None:
        """Do what the model cannot see."""
        for flight in self.network.in_flight():
            match flight.message:
                case Control(number=number):
                    is_waited_for = (flight.target, number) in self.network.unanswered(flight.source)
                    if is_waited_for and self.traffic.copies(flight) < COPIES_MAX:
                        self.network.retry(flight.source, flight.target, number)
                case UserAccept() | FetchReturn() | CallFailed() if self._may_fail(flight):
                    self.network.fail(flight.id)
                case _:
                    pass

    def _may_fail(self, flight: InFlight) -> bool:
        """Say whether an answer can be said to have failed: to somebody excluded, and before a new epoch, none is (R3)."""
        return flight.target not in self._lost_to(flight.source) and not self.traffic.waits(flight)

    def _lost_to(self, worker: WorkerId) -> set[WorkerId]:
        return self.authority.lost_to(worker) if self.authority else set()

    # What can be seen

    def observe(self) -> Observation:
        """Look at every worker and at the network."""
        for seen in self.network.look():
            worker = seen.tables.worker
            self.observed[worker] = self.observer.observe(seen.tables, seen.parents)
            self.closing[worker] = seen.closing
        observed, flying = [self.observed[worker] for worker in sorted(self.observed)], self.traffic.views()
        amiss = [complaint for one in observed for complaint in one.amiss]
        return Observation(
            workers=tuple([one.view for one in observed]),
            flying=in_order(flying),
            closing=all(self.closing.values()),
            amiss=(*amiss, *self.application.complaints, *self.calls.lost(observed, flying)),
        )
