"""How each move of a storm is taken: what code does, what befalls messages, and what becomes of workers.

A move that names something that is not there cannot happen. A use that must be refused is tried all the same, and has to
change nothing (R27, R34).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, assert_never

from farref.impl.core.ids import OwnedReference, Reference, UserReference, WorkerId
from farref.impl.core.messages import Ack, CallFailed, Carrier, Control, FetchReturn, RemoteCall, UserAccept
from farref.impl.errors import RpcError
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.rref.storm import moves as mv
from farref.properties.twin.backends.rref.storm.names import StormNames
from farref.properties.twin.backends.rref.storm.network import StormNetwork
from farref.properties.twin.backends.rref.storm.truth import StormTruth

Result = TypeVar("Result")


class CannotHappenError(Exception):
    """What a move names is not there."""


class RefusedError(Exception):
    """A use was refused, and had to be."""


class Steps:
    """Takes moves on a network, and lets the applications know what they did."""

    def __init__(self, network: StormNetwork, names: StormNames, truth: StormTruth) -> None:
        self.network, self.names, self.truth = network, names, truth

    def take(self, move: mv.Move) -> None:
        """Take a move. One that code is refused has happened too."""
        with suppress(RefusedError):
            self._take(move)

    def _take(self, move: mv.Move) -> None:
        match move:
            case mv.CreateLocal() | mv.CreateOnSelf() | mv.CreateRemote():
                self._create(move)
            case mv.Call() | mv.Reply():
                self._share(move)
            case mv.Finish():
                self._finish(move)
            case mv.LetGo(handle):
                worker, reference = self.held(handle)
                self.truth.handles[worker, reference] -= 1
                self.network.let_go(worker, reference)
            case mv.Fetch() | mv.Await():
                self._ask(move)
            case mv.Abandon(fetch):
                self._abandon(fetch)
            case mv.TimeOut(rref):
                self._time_out(rref)
            case mv.Retry(message):
                self._retry(message)
            case mv.Deliver() | mv.Duplicate() | mv.Drop() | mv.Fail() | mv.Refuse():
                self._befall(move, self.flight(move.message))
            case mv.Die(worker):
                self._living(worker)
                self.network.die(WorkerId(worker))
                self.truth.mourn(WorkerId(worker))
            case mv.Notice(worker, dead):
                _need((worker, dead) not in self.truth.noticed and dead in self.truth.dead)
                self.truth.notice(self._living(worker), WorkerId(dead))
                self.network.notice(WorkerId(worker), WorkerId(dead))
            case mv.Restart(worker):
                self.network.restart(self._living(worker))
            case _:
                assert_never(move)

    # What code does

    def _create(self, move: mv.CreateLocal | mv.CreateOnSelf | mv.CreateRemote) -> None:
        worker, rref = self._living(move.worker), f"x{move.number}"
        owner = worker
        match move:
            case mv.CreateRemote():
                owner, cargo = self._reachable(worker, move.owner), self._cargo(worker, move.cargo)
                made: Reference = self._use(
                    worker, cargo, lambda: self.network.create_remote_with(worker, owner, cargo)
                )
            case mv.CreateOnSelf():
                made = self.network.create_on_self(worker)
                self.truth.running[rref] = worker
            case mv.CreateLocal():
                held = self._given_up(worker, move.holds)
                made = self.network.create_local_of(worker, rref, held)
                self.truth.put(rref, worker, held)
        self.names.enter_rref(move.number, made, worker, owner)
        self.truth.arrived |= set() if isinstance(move, mv.CreateRemote) else {rref}
        self.truth.handles[worker, made] += 1

    def _share(self, move: mv.Call | mv.Reply) -> None:
        worker = self._living(move.worker)
        target, cargo, number = self._reachable(worker, move.target), self._cargo(worker, move.cargo), move.number
        if isinstance(move, mv.Reply):
            self._use(worker, cargo, lambda: self.network.reply(worker, target, number, cargo))
            return
        call = self._use(worker, cargo, lambda: self.network.call(worker, target, cargo))
        self.names.calls[worker, call] = f"c{number}"
        self.truth.calls[f"c{number}"] = (worker, target)

    def _finish(self, move: mv.Finish) -> None:
        _need(move.rref in self.truth.running)
        worker = self.truth.running[move.rref]
        held = self._given_up(worker, move.holds)
        del self.truth.running[move.rref]
        if move.failed:
            self.truth.failed.add(move.rref)
        else:
            self.truth.put(move.rref, worker, held)
        self.network.finish_with(worker, self.names.created[move.rref].id, move.rref, held, move.failed)

    def _ask(self, move: mv.Fetch | mv.Await) -> None:
        worker, reference = self.held(move.handle)
        if isinstance(move, mv.Await):
            _need(isinstance(reference, OwnedReference))
            waiter = self.network.await_value(worker, reference)  # type: ignore[arg-type]
            self.truth.waiters[worker, waiter] = move.handle
            return
        _need(isinstance(reference, UserReference))
        fetch = self._use(worker, (reference,), lambda: self.network.fetch(worker, reference))  # type: ignore[arg-type]
        self.names.fetches[worker, fetch] = f"q{move.number}"
        self.truth.fetches[worker, fetch] = (f"q{move.number}", move.handle, False)

    def _abandon(self, fetch: str) -> None:
        for (worker, number), (known, fork, abandoned) in self.truth.fetches.items():
            if known == fetch and not abandoned:
                self.network.abandon_fetch(worker, self.names.made[fork].reference, number)
                self.truth.fetches[worker, number] = (fetch, fork, True)
                return
        raise CannotHappenError

    def _time_out(self, rref: str) -> None:
        fork = f"f{rref[1:]}"
        _need(fork in self.names.made and fork not in self.truth.confirmed)
        worker, reference = self.held(fork)
        self.network.time_out_creation(worker, reference)  # type: ignore[arg-type]
        self.truth.timed_out.add(fork)

    # What befalls messages

    def _befall(self, move: mv.Deliver | mv.Duplicate | mv.Drop | mv.Fail | mv.Refuse, flight: InFlight) -> None:
        is_control = isinstance(flight.message, Control | Ack)
        match move:
            case mv.Deliver():
                self.truth.promise(flight)
                self.network.deliver(flight.id)
            case mv.Duplicate():
                _need(is_control)
                self.network.duplicate(flight.id)
            case mv.Drop():
                _need(is_control)
                self.network.drop(flight.id)
            case mv.Fail():
                _need(not is_control and flight.source in self.network.cores)
                self._fail(flight)
            case mv.Refuse():
                _need(isinstance(flight.message, Carrier) and (flight.target, flight.source) not in self.truth.noticed)
                self.truth.refuse(flight)
                self.network.refuse(flight.id)

    def _fail(self, flight: InFlight) -> None:
        if not isinstance(flight.message, UserAccept | CallFailed | FetchReturn):  # answers are given again
            self.truth.spoil(self.names.subject(flight.source, flight.target, flight.message))
        if isinstance(flight.message, RemoteCall):
            self.truth.failed.add(self.names.rref(flight.message.rref))
        self.network.fail(flight.id)

    def _retry(self, message: str) -> None:
        for worker in self.network.cores:
            for peer, number, body, _ in self.network.used_cores.at_rest(worker).channel.unanswered():
                if self.names.control(body) == message:
                    self.network.retry(worker, peer, number)
                    return
        raise CannotHappenError

    # Finding things

    def flight(self, message: str) -> InFlight:
        """Find the oldest message of a name that is under way."""
        for flight in self.network.in_flight():
            if self.names.flight(flight) == message:
                return flight
        raise CannotHappenError

    def held(self, handle: str) -> tuple[WorkerId, Reference]:
        """Find a handle that code has."""
        found = self.names.reference(handle)
        if found is None or not self.truth.handles[found]:
            raise CannotHappenError
        return found

    def _cargo(self, worker: WorkerId, handles: mv.Names) -> tuple[Reference, ...]:
        found = [self.held(handle) for handle in handles]
        _need(all(at == worker for at, _ in found))
        return tuple(reference for _, reference in found)

    def _given_up(self, worker: WorkerId, handles: mv.Names) -> tuple[Reference, ...]:
        """Take handles from code, for a value to hold."""
        cargo = self._cargo(worker, handles)
        _need(all(self.truth.handles[worker, one] >= cargo.count(one) for one in cargo))
        for one in cargo:
            self.truth.handles[worker, one] -= 1
        return cargo

    def _living(self, worker: int) -> WorkerId:
        _need(worker in self.network.cores)
        return WorkerId(worker)

    def _reachable(self, worker: WorkerId, target: int) -> WorkerId:
        _need((worker, target) not in self.truth.noticed)
        return WorkerId(target)

    def _use(self, worker: WorkerId, references: tuple[Reference, ...], action: Callable[[], Result]) -> Result:
        """Let code use references, which must be refused exactly if one of them can only be let go."""
        must = any(self.truth.is_refused(worker, one) for one in references)
        try:
            result = action()
        except RpcError as error:
            if not must:
                self.truth.complaints.append(f"a use is refused without a reason: {error}")
            raise RefusedError from error
        if must:
            self.truth.complaints.append("a use is let through that must be refused (R27, R34)")
        return result


def _need(holds: bool) -> None:
    if not holds:
        raise CannotHappenError
