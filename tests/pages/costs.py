"""`spec/building/costs.md`: what each operation costs in messages, counted on the simulated network where nothing is lost.

Time is counted in messages: what is sent because of a message that took n times arrives after n + 1. Of all that is under way,
what was sent earliest arrives first. Functions take no time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.effects import (
    CompleteCall,
    CompleteFetch,
    Confirmed,
    DropValue,
    Effect,
    RunCall,
    RunCreation,
    Value,
)
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, AnyMessage, Control, ForwardCall
from farref.impl.simulated.autograd import AutogradSimulation
from farref.impl.tape import Tensor, tensor
from tests.conformance_tables import table

A, B, C, D = map(WorkerId, range(4))


class Counting(AutogradSimulation):
    """Four workers whose messages are counted and timed. Functions that are called return at once, and keep what they get."""

    def __init__(self) -> None:
        super().__init__(4)
        self.now = 0
        self.times: dict[int, int] = {}
        self.sent: list[AnyMessage] = []
        self.happened: dict[type[Effect], int] = {}
        """When each kind of effect was seen last."""

    def perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step asks for, note when, and let functions return."""
        super().perform(worker, effects)
        for flight in self.in_flight():
            if flight.id not in self.times:
                self.times[flight.id] = self.now + 1
                self.sent.append(flight.message)
        for effect in effects:
            self.happened[type(effect)] = self.now
            match effect:
                case RunCall(source, call) if call.function != "f":
                    self.perform(worker, self.cores[worker].reply(source, call.call))
                case RunCreation(_, creation):
                    self.perform(worker, self.cores[worker].finish_function(creation.rref, Value(None)))
                case _:
                    pass

    def settle(self) -> None:
        """Let everything arrive, in the order of time."""
        while True:
            while self.working:
                self.work(self.workable()[0])
            if not self.in_flight():
                return
            first = min(self.in_flight(), key=lambda flight: (self.times[flight.id], flight.id))
            self.now = self.times[first.id]
            self.deliver(first.id)

    def begin(self) -> None:
        """Begin to count."""
        self.settle()
        self.now, self.sent, self.happened = 0, [], {}


@dataclass(frozen=True)
class Operation:
    """Something an application does: how it is made ready and done, and what its caller, or somebody else, waits for."""

    name: str
    make_ready: Callable[[Counting], Callable[[], object]]
    awaited: str
    effect: type[Effect] | None


def _created(world: Counting) -> Callable[[], object]:
    return lambda: world.create_remote(A, B)


def _called(world: Counting) -> Callable[[], object]:
    return lambda: world.share_as_argument(A, B)


def _fetched(world: Counting) -> Callable[[], object]:
    reference = world.create_remote(A, B)
    return lambda: world.fetch(A, reference)


def _shared_by_owner(world: Counting) -> Callable[[], object]:
    own = world.create_local(B)
    return lambda: world.share_as_argument(B, C, own)


def _shared_by_user(world: Counting) -> Callable[[], object]:
    reference = world.create_remote(A, B)
    return lambda: world.share_as_argument(A, C, reference)


def _returned_by_user(world: Counting) -> Callable[[], object]:
    reference = world.create_remote(A, B)
    return lambda: world.share_in_result(A, C, reference)


def _shared_with_owner(world: Counting) -> Callable[[], object]:
    reference = world.create_remote(A, B)
    return lambda: world.share_as_argument(A, B, reference)


def _let_go(world: Counting) -> Callable[[], object]:
    reference = world.create_remote(A, B)
    return lambda: world.let_go(A, reference)


def _failed(world: Counting) -> Callable[[], object]:
    def create_and_fail() -> None:
        world.create_remote(A, B)
        world.fail(world.in_flight()[-1].id)

    return create_and_fail


def _in_context(world: Counting) -> Callable[[], object]:
    context = world.open_context(A)
    return lambda: world.call(A, B, context, [tensor(1.0, requires_grad=True)])


def chain(world: Counting, hops: int, unused: bool = False) -> Tensor:
    """Let tensors come to A by way of so many workers; one more result of the last of them is not used."""
    context, workers = world.open_context(A), [A, B, C, D][: hops + 1]
    hops_there = list(pairwise(workers))
    for source, target in hops_there:
        world.call(source, target, context, [])
        world.settle()
    result = tensor(1.0, requires_grad=True)
    for target, source in reversed(hops_there):
        sent = [world.call(source, target, context, [result * 2.0]) for _ in range(1 + unused)]
        world.settle()
        (result,) = world.received[sent[0]]
    return result


def _backward(hops: int, unused: bool = False) -> Callable[[Counting], Callable[[], object]]:
    def make_ready(world: Counting) -> Callable[[], object]:
        root = chain(world, hops, unused) * 1.0
        (context,) = world.cores[A].engine.contexts
        return lambda: world.backward(A, context, [root])

    return make_ready


def _released(world: Counting) -> Callable[[], object]:
    chain(world, 1)
    (context,) = world.cores[A].engine.contexts
    return lambda: world.release(A, context)


OPERATIONS: Final = (
    Operation("`remote()` on another worker (R10)", _created, "confirmed; the handle is there at once", Confirmed),
    Operation("`remote()` whose call cannot be sent (R29)", _failed, "confirmed", Confirmed),
    Operation("`rpc_sync` without references", _called, "the result", CompleteCall),
    Operation("`to_here()` of a value that is ready (R20)", _fetched, "the value", CompleteFetch),
    Operation("owner passes to a user (R14)", _shared_by_owner, "the function begins", RunCall),
    Operation("user passes to a user (R16)", _shared_by_user, "the function begins", RunCall),
    Operation("user returns to a user (R16)", _returned_by_user, "the caller has it", CompleteCall),
    Operation("user passes to the owner (R19)", _shared_with_owner, "the function begins", RunCall),
    Operation("the last user lets go (R26)", _let_go, "the value is dropped", DropValue),
    Operation("a call with a tensor, in a context (A4)", _in_context, "the function begins", RunCall),
    Operation("`backward`, 1 hop (A13)", _backward(1), "`backward` returns", PassEnded),
    Operation("`backward`, 2 hops", _backward(2), "`backward` returns", PassEnded),
    Operation("`backward`, 3 hops", _backward(3), "`backward` returns", PassEnded),
    Operation(
        "`backward`, SMART, 1 hop and an unused result (A16)", _backward(1, True), "`backward` returns", PassEnded
    ),
    Operation("a context is released that one other worker knows (A25)", _released, "nothing", None),
)


def costs_table() -> str:
    """Count what each operation sends, and how long somebody waits for it."""
    rows = []
    for operation in OPERATIONS:
        world = Counting()
        go = operation.make_ready(world)
        world.begin()
        go()
        world.settle()
        waited = "—" if operation.effect is None else f"{world.happened[operation.effect]}: {operation.awaited}"
        calls, controls, answers = (_counted(world, kind) for kind in ("call", "control", "answer"))
        rows.append((operation.name, calls, controls, answers, waited))
    return table(("operation", "user calls", "control messages", "answers", "message times"), rows)


def _counted(world: Counting, family: str) -> str:
    names = Counter(_name(message) for message in world.sent if _family(message) == family)
    if family == "answer":
        return str(names.total())
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in names.items()) or "—"


def _family(message: AnyMessage) -> str:
    return "answer" if isinstance(message, Ack) else "control" if isinstance(message, Control) else "call"


def _name(message: AnyMessage) -> str:
    if isinstance(message, ForwardCall):
        return f"`{type(message.message).__name__}` in a `ForwardCall`"
    return f"`{type(message.body if isinstance(message, Control) else message).__name__}`"
