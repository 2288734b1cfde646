"""The implementation's core over its simulated network, driven by the model's actions.

Each action of the model is one step here, with these translations:

* Code on the owner that receives an RRef as argument asks for its value at once: that is the model's `waiting` (R21).
* Where the implementation counts handles, waits and fetches, the model has a flag. Letting go lets go of all handles that the
  application was given, abandoning a fetch abandons all fetches of that fork.
* The model lets a failed call travel back as a message of the network. Here the forks with even numbers fail in the transport,
  which tells its own worker later; those with odd numbers arrive, cannot be read, and are refused by their receiver (R28).
* The model's network is a set. If there are several copies of a message under way, they arrive together and are lost together.

A *restless* backend also does what the model calls nothing at all: after each step it sends again what is still under way,
with whatever it now says about older numbers (R7); it lets every answer fail once more, which has to be given again (R3);
and its application asks for a value twice where the model's asks once (R9).
"""

from __future__ import annotations

from typing import Final, assert_never

from farref.impl.effects import RunCall, Send
from farref.impl.errors import RpcError
from farref.impl.ids import OwnedReference, Reference, WorkerId
from farref.impl.messages import CallFailed, Control, FetchReturn, UserAccept
from farref.impl.simulated import InFlight, Simulation
from farref.model import actions as act
from farref.model import messages as msg
from farref.model.ids import ForkId, RRefId
from farref.model.world import Bounds
from farref.properties.backends.application import Application, owned
from farref.properties.backends.backend import Refused
from farref.properties.backends.ledger import Key, Ledger, Place
from farref.properties.backends.picture import Photographer, name
from farref.properties.observation import MessageView, Observation
from farref.properties.replay import NETWORK

COPIES_MAX: Final = 2


class SimulatedBackend:
    """Several cores in this process; every delivery is chosen by the caller."""

    def __init__(self, *, restless: bool = False) -> None:
        self.restless = restless

    @property
    def name(self) -> str:
        """The name by which the command line knows it."""
        return "simulated"

    def start(self, bounds: Bounds) -> None:
        """Begin with new cores."""
        self.simulation = Simulation(bounds.workers)
        self.ledger, self.application = Ledger(bounds), Application()
        self.failed: dict[int, InFlight] = {}  # by flight: calls that will not arrive, which nobody has been told yet

    def close(self) -> None:
        """Nothing outside this process was started."""

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
            case act.Deliver(message):
                self._deliver(message)
            case act.Duplicate(message):
                self.simulation.duplicate(self._flights(message)[0].id)
            case act.DropMessage(message):
                for flight in self._flights(message):
                    self.simulation.drop(flight.id)
            case act.Retry(message):
                self.simulation.retry(*self._place(message))
            case act.FailCall(message):
                self._fail(message)
            case act.CreateLocal() | act.CreateOnSelf() | act.CreateRemote():
                self._create(action)
            case act.FinishFunction(rref):
                self._finish(rref)
            case act.OwnerShare(rref, target, carrier):
                self._share(self._owner(rref), OwnedReference(self.ledger.rrefs[rref]), rref, target, carrier)
            case act.UserShare(fork, target, carrier):
                rref = self.ledger.bounds.rref_of(fork)
                self._share(self.ledger.holders[fork], self.ledger.forks[fork], rref, target, carrier)
            case act.OwnerLetGo(rref):
                self._let_go(self._owner(rref), OwnedReference(self.ledger.rrefs[rref]))
            case act.LetGo(fork):
                self._let_go(self.ledger.holders[fork], self.ledger.forks[fork])
            case act.FetchValue(fork):
                self._fetch(fork)
            case act.AbandonFetch(fork):
                self._abandon(fork)
            case act.TimeOutCreation(fork):
                if not self.simulation.time_out_creation(self.ledger.holders[fork], self.ledger.forks[fork]):
                    raise Refused(f"the creation of f{fork} is not pending")
            case act.Shutdown():
                self.simulation.shut_down()
            case act.RegisterCreator() | act.EndCall():
                raise Refused(f"{action} is no step of the sound protocol")
            case _:
                assert_never(action)

    def _create(self, action: act.CreateLocal | act.CreateOnSelf | act.CreateRemote) -> None:
        rref, owner = action.rref, self._owner(action.rref)
        if isinstance(action, act.CreateRemote):
            worker = WorkerId(action.worker)
            made: Reference = (remote := self.simulation.create_remote(worker, owner))
            self.ledger.enter_rref(rref, made.rref)
            self.ledger.enter_fork(rref, remote.fork, worker)
        else:
            worker, on_self = owner, isinstance(action, act.CreateOnSelf)
            made = self.simulation.create_on_self(owner) if on_self else self.simulation.create_local(owner)
            self.ledger.enter_rref(rref, made.rref)
            self.application.running |= {made.rref} if on_self else set()
        self.application.handles[worker, made] += 1

    def _finish(self, rref: RRefId) -> None:
        found = self.ledger.rrefs[rref]
        if found not in self.application.running:
            raise Refused(f"the function of x{rref} was never started, or has ended")
        self.application.running.remove(found)
        self.simulation.finish_function(self._owner(rref), found)

    def _share(
        self, worker: WorkerId, reference: Reference, rref: RRefId, to: int, carrier: type[msg.Call | msg.Return]
    ) -> None:
        target = WorkerId(to)
        call = None
        if carrier is msg.Call:
            call = self.simulation.share_as_argument(worker, target, reference)
        else:
            self.simulation.share_in_result(worker, target, reference)
        [data] = self.simulation.in_flight()[-1].message.forks  # type: ignore[union-attr]
        self.ledger.enter_fork(rref, data.fork, target)
        if call is not None:
            self.application.calls[worker, call] = data.fork

    def _let_go(self, worker: WorkerId, reference: Reference) -> None:
        handles = self.application.handles.pop((worker, reference), 0)
        if not handles:
            raise Refused(f"worker {worker} was never given {reference}")
        for _ in range(handles):
            self.simulation.let_go(worker, reference)

    def _fetch(self, fork: ForkId) -> None:
        worker, reference = self.ledger.holders[fork], self.ledger.forks[fork]
        for _ in range(2 if self.restless else 1):
            fetch = self.simulation.fetch(worker, reference)
            self.application.fetches[worker, fetch] = (reference.fork, False)

    def _abandon(self, fork: ForkId) -> None:
        worker, reference = self.ledger.holders[fork], self.ledger.forks[fork]
        for fetch, _ in self.application.asked(worker, reference.fork):
            self.simulation.abandon_fetch(worker, reference, fetch)
            self.application.fetches[worker, fetch] = (reference.fork, True)

    # The network

    def _deliver(self, message: msg.Message) -> None:
        failed = [flight for flight in self.failed.values() if self._report(flight) == _key(message)]
        if failed:
            del self.failed[failed[0].id]
            self.simulation.fail(failed[0].id)
            return
        for flight in self._flights(message):
            self.simulation.deliver(flight.id)

    def _fail(self, message: msg.RemoteCall | msg.Call | msg.Return) -> None:
        [flight] = self._flights(message)
        if message.fork % 2 and type(message) is not msg.RemoteCall:
            self.simulation.refuse(flight.id)
        else:
            self.failed[flight.id] = flight

    def _flights(self, message: msg.Message) -> list[InFlight]:
        wanted = _key(message)
        found = [one for one in self.simulation.in_flight() if one.id not in self.failed and self._key(one) == wanted]
        if not found:
            raise Refused(f"{message} is not under way")
        return found

    def _place(self, message: msg.Control) -> Place:
        place = self.ledger.places.get(_key(message))
        if place is None:
            raise Refused(f"{message} was never sent")
        return place

    def _key(self, flight: InFlight) -> Key:
        return self.ledger.key(flight.source, flight.target, flight.message)

    def _report(self, flight: InFlight) -> Key:
        kind, fork = self._key(flight)
        return ("RemoteFailed" if kind == "RemoteCall" else "CallFailed"), fork

    def _owner(self, rref: RRefId) -> WorkerId:
        return WorkerId(self.ledger.bounds.owner(rref))

    # What follows from a step

    def _hear(self) -> None:
        """Tell ledger and application everything that has happened, until nothing more does."""
        while self.simulation.log:
            heard = list(self.simulation.log)
            self.simulation.log.clear()
            for worker, effect in heard:
                match effect:
                    case Send(target, Control() as control):
                        self.ledger.enter_control(worker, target, control)
                    case RunCall(call=call, references=references):
                        self.application.hears(worker, effect)
                        for data in call.forks:
                            accepted = ("ChildAccept", self.ledger.fork(data.fork)) in self.ledger.places
                            self.application.must_accept_first(data, accepted)
                        for reference in owned(references):
                            self._wait(worker, reference)
                    case _:
                        self.application.hears(worker, effect)

    def _wait(self, worker: WorkerId, reference: OwnedReference) -> None:
        """Let code that was given an RRef of its own worker ask for the value (R21)."""
        waiter = self.simulation.await_value(worker, reference)
        self.application.waiters[waiter] = reference.rref

    def _stir(self) -> None:
        """Do what the model cannot see."""
        for flight in self.simulation.in_flight():
            match flight.message:
                case Control(number=number):
                    is_waited_for = (flight.target, number) in self.simulation.unanswered(flight.source)
                    if is_waited_for and self._copies(flight) < COPIES_MAX:
                        self.simulation.retry(flight.source, flight.target, number)
                case UserAccept() | FetchReturn() | CallFailed():
                    self.simulation.fail(flight.id)
                case _:
                    pass

    def _copies(self, flight: InFlight) -> int:
        wanted = self._key(flight)
        return sum(isinstance(one.message, Control) and self._key(one) == wanted for one in self.simulation.in_flight())

    # What can be seen

    def observe(self) -> Observation:
        """Look at every worker and at the network."""
        photographer, cores = Photographer(self.ledger, self.application), self.simulation.cores
        flying = {self._view(flight) for flight in self.simulation.in_flight()}
        workers = tuple(photographer.worker(core) for core in cores.values())
        return Observation(
            workers=workers,
            flying=tuple(sorted(flying)),
            closing=all(core.closing for core in cores.values()),
            amiss=(*photographer.amiss, *self.application.complaints, *self._lost_calls(flying)),
        )

    def _view(self, flight: InFlight) -> MessageView:
        if flight.id in self.failed:
            return MessageView(*self._report(flight), NETWORK, name(flight.source))
        source = NETWORK if isinstance(flight.message, CallFailed) else name(flight.source)
        return MessageView(*self._key(flight), source, name(flight.target))

    def _lost_calls(self, flying: set[MessageView]) -> list[str]:
        """List the calls that are neither under way, nor parked, nor ended."""
        travelling = {one.fork for one in flying if one.kind in ("Call", "CallFailed")}
        waiting = {self.ledger.fork(fork) for fork in self.application.calls.values()} - travelling
        parked = {
            self.ledger.fork(fork)
            for core in self.simulation.cores.values()
            for call in core.parking.all()
            for fork in call.waiting_for
        }
        return [f"the call with {fork} neither runs nor fails" for fork in sorted(waiting - parked)]


def _key(message: msg.Message) -> Key:
    return msg.kind_of(message), f"f{message.fork}"
