"""The step verbs of our core: cores on the simulated network of the implementation, where nothing happens by itself.

It is also an example of these verbs in Python. The kit drives it beside the model (`kit/steps.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from farref.impl.core.effects import CompleteCall, DropValue, RunCall
from farref.impl.core.ids import (
    FetchId,
    ForkId,
    Incarnation,
    OwnedReference,
    Reference,
    RRefId,
    UserReference,
    WorkerId,
)
from farref.impl.core.messages import Ack, Call, CallFailed, Control, Return, RRefBody
from farref.impl.core.observe import EntryView, RecordView, observe
from farref.impl.errors import RpcError
from farref.impl.simulated.network import InFlight, Simulation

TIMERS: Final = ("creation", "fetch")


class HeldWorld:
    """Some cores, their messages, and an application that keeps what it is given."""

    def __init__(self, workers: Sequence[str]) -> None:
        self.names, self.network = tuple(workers), Simulation(len(workers))
        self.handles: defaultdict[tuple[int, Reference], int] = defaultdict(int)
        self.fetches: dict[tuple[int, UserReference], FetchId] = {}
        self.dropped: defaultdict[int, list[str]] = defaultdict(list)

    # -- what the application begins -------------------------------------------------------------------------------------

    def begin(
        self, worker: str, what: str, rref: str | None, fork: str | None, to: str | None
    ) -> dict[str, Any] | None:
        """Let the application do something."""
        here, network = self._rank(worker), self.network
        try:
            match what:
                case "create" if to != worker:
                    return self._made(here, network.create_remote(here, self._rank(to)))
                case "create":
                    return self._made(here, network.create_on_self(here))
                case "wrap":
                    return self._made(here, network.create_local(here))
                case "leave":
                    network.cores[here].shut_down()
                case _:
                    return self._use(here, what, self._reference(here, rref, fork), to)
        except RpcError as error:
            raise PermissionError(str(error)) from error
        return None

    def _use(self, here: WorkerId, what: str, held: Reference, to: str | None) -> dict[str, Any] | None:
        match what, held:
            case "finish", OwnedReference(rref):
                self.network.finish_function(here, rref)
            case "pass", _:
                self.network.share_as_argument(here, self._rank(to), held)
                return self._shared()
            case "give", _:
                self.network.share_in_result(here, self._rank(to), held)
                return self._shared()
            case "fetch", UserReference():
                self.fetches[here, held] = self.network.fetch(here, held)
            case "let go", _:
                for _ in range(self.handles.pop((here, held))):
                    self.network.let_go(here, held)
            case _:
                raise NotImplementedError(f"nobody can begin {what}")
        return None

    def _made(self, here: WorkerId, made: Reference) -> dict[str, Any]:
        self.handles[here, made] += 1
        return {"rref": text(made.rref), "fork": text(made.fork) if isinstance(made, UserReference) else None}

    def _shared(self) -> dict[str, Any]:
        message = self.network.in_flight()[-1].message
        assert isinstance(message, Call | Return)
        return {"fork": text(message.forks[0].fork)}

    # -- what becomes of messages, and timers ----------------------------------------------------------------------------

    def expire(self, worker: str, timer: str, rref: str, fork: str) -> None:
        """Let a timer expire."""
        here = self._rank(worker)
        if timer not in TIMERS:
            self._send_again(here, timer, fork)
            return
        held = self._reference(here, rref, fork)
        assert isinstance(held, UserReference)
        if timer == "creation":
            self.network.time_out_creation(here, held)
        else:
            self.network.abandon_fetch(here, held, self.fetches[here, held])

    def _send_again(self, here: WorkerId, kind: str, fork: str) -> None:
        for peer, number, body, _ in self.network.cores[here].channel.unanswered():
            if type(body).__name__ == kind and isinstance(body, RRefBody) and text(body.fork) == fork:
                self.network.retry(here, peer, number)

    def hear(self) -> None:
        """Let the application hear what has happened: it keeps references, and code that owns one waits for it (R21)."""
        while self.network.log:
            worker, effect = self.network.log.pop(0)
            match effect:
                case RunCall(references=references) | CompleteCall(references=references):
                    for held in references:
                        self.handles[worker, held] += 1
                        if isinstance(effect, RunCall) and isinstance(held, OwnedReference):
                            self.network.await_value(worker, held)
                case DropValue(rref):
                    self.dropped[worker].append(text(rref))
                case _:
                    pass

    # -- what there is ---------------------------------------------------------------------------------------------------

    def look(self) -> dict[str, Any]:
        """Show everything."""
        workers = {self.names[rank]: self._tables(rank) for rank in self.network.cores}
        return {"messages": [self._message(one) for one in self.network.in_flight()], "workers": workers}

    def _message(self, flight: InFlight) -> dict[str, Any]:
        about: Any = flight.message.body if isinstance(flight.message, Control) else flight.message
        carried = about.forks[0].fork if isinstance(about, Call | Return | CallFailed) else getattr(about, "fork", None)
        return {
            "id": flight.id,
            "kind": type(about).__name__,
            "from": self.names[flight.source],
            "to": self.names[flight.target],
            "fork": None if carried is None else text(carried),
            "number": flight.message.number if isinstance(flight.message, Control | Ack) else None,
        }

    def _tables(self, rank: WorkerId) -> dict[str, Any]:
        core = self.network.cores[rank]
        tables = observe(core)
        parked = {fork for call in tables.parked_calls for fork in call.waiting_for}
        return {
            "owned": [self._entry(one) for one in tables.entries],
            "users": [self._user(one, one.fork in parked) for one in tables.users],
            "unanswered": [
                {"kind": one.message, "fork": text(one.fork), "to": self.names[one.peer]}
                for one in tables.unanswered
                if one.fork is not None
            ],
            "dropped": self.dropped[rank],
            "leaving": core.here.closing,
        }

    def _entry(self, entry: EntryView) -> dict[str, Any]:
        return {
            "rref": text(entry.rref),
            "value": entry.phase,
            "forks": self._holders(entry.forks),
            "running": entry.running,
            "held": entry.held > 0,
            "waiting": entry.waiting > 0,
            "fetches": [text(one.fork) for one in entry.fetches],
        }

    def _user(self, record: RecordView, parked: bool) -> dict[str, Any]:
        held = "parked" if parked else "timed out" if record.timed_out else "held"
        abandoned = "abandoned" if record.fetches_abandoned else "none"
        return {
            "fork": text(record.fork),
            "rref": text(record.rref),
            "confirmed": record.confirmed,
            "handle": held if record.handles else "none",
            "fetch": "waiting" if record.fetches_waiting else abandoned,
            "children": self._holders(record.children),
        }

    def _holders(self, forks: Sequence[tuple[ForkId, WorkerId]]) -> dict[str, str]:
        return {text(fork): self.names[holder] for fork, holder in forks}

    def _rank(self, worker: str | None) -> WorkerId:
        if worker not in self.names:
            raise LookupError(f"there is no worker {worker}")
        return WorkerId(self.names.index(worker))

    def _reference(self, here: WorkerId, rref: str | None, fork: str | None) -> Reference:
        """Find a reference of a worker by its texts."""
        if fork is None:
            return OwnedReference(RRefId(*_numbers(rref)))
        found = ForkId(*_numbers(fork))
        record = self.network.cores[here].user.records.get(found)
        if record is None:
            raise LookupError(f"{self.names[here]} has no fork {fork}")
        return UserReference(record.owner, record.rref, found)


class StepVerbs:
    """The step verbs of an adapter that has a held world."""

    held: HeldWorld

    def begin(
        self, worker: str, what: str, rref: str | None, fork: str | None, to: str | None
    ) -> Mapping[str, Any] | None:
        """Let the application of a worker do something with a reference."""
        made = self.held.begin(worker, what, rref, fork, to)
        self.held.hear()
        return made

    def deliver(self, message: int) -> None:
        """Let a message arrive."""
        self.held.network.deliver(message)
        self.held.hear()

    def copy(self, message: int) -> None:
        """Let a message arrive, and keep it under way."""
        self.held.network.duplicate(message)
        self.held.hear()

    def lose(self, message: int) -> None:
        """Let a message never arrive."""
        self.held.network.drop(message)

    def fail(self, message: int, by: str) -> None:
        """Let a call fail."""
        (self.held.network.refuse if by == "receiver" else self.held.network.fail)(message)
        self.held.hear()

    def expire(self, worker: str, timer: str, rref: str, fork: str) -> None:
        """Let a timer expire."""
        self.held.expire(worker, timer, rref, fork)
        self.held.hear()

    def look(self) -> Mapping[str, Any]:
        """Show everything."""
        return self.held.look()


def text(one: RRefId | ForkId) -> str:
    """Write an id."""
    return f"{one.created_on}.{one.incarnation}.{one.number}"


def _numbers(id_: str | None) -> tuple[WorkerId, Incarnation, int]:
    worker, incarnation, number = map(int, str(id_).split("."))
    return WorkerId(worker), Incarnation(incarnation), number
