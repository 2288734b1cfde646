"""Random distributed programs on the simulated network, and the same programs on one tape.

A program computes with numbers that are small integers, so that every order of additions gives the same bits. Each value is
kept twice: as the tensor on the worker that has it, and as a tensor of one process that has no idea of workers. Some results
are never used, some arguments ignored, some calls fail, some tensors travel in pairs of which only one is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, Control, ForwardCall
from farref.impl.simulated.autograd import AutogradSimulation
from farref.impl.tape import Tensor, gradients, tensor


@dataclass(frozen=True)
class Value:
    """A number somewhere, its twin in one process, and the pairs that it came from without leaving its worker again."""

    worker: WorkerId
    far: Tensor
    near: Tensor
    behind: frozenset[ForwardId] = frozenset()


@dataclass
class Program:
    """A program that is under way."""

    random: Random
    world: AutogradSimulation
    context: ContextId
    values: list[Value] = field(default_factory=list)
    leaves: list[Value] = field(default_factory=list)
    pairs: dict[ForwardId, frozenset[ForwardId]] = field(default_factory=dict)
    """For each pair, those that its tensors came from."""
    lateness: float = 0.0
    """How likely a call stays under way, and nobody uses it."""

    @classmethod
    def begun(cls, seed: int, workers: int = 3, leaves: int = 2) -> Program:
        world = AutogradSimulation(workers)
        program = cls(Random(seed), world, world.open_context(WorkerId(0)))
        for worker in world.cores:
            for _ in range(leaves):
                number = float(program.random.randint(-3, 3))
                leaf = Value(worker, tensor(number, requires_grad=True), tensor(number, requires_grad=True))
                program.leaves.append(leaf)
        program.values += program.leaves
        for worker in list(world.cores)[1:]:
            world.call(WorkerId(0), worker, program.context, [])
            world.deliver(world.in_flight()[-1].id)
        return program

    def run(self, steps: int) -> None:
        for _ in range(steps):
            if self.random.random() < 0.45:
                self.send()
            else:
                self.compute()

    def compute(self) -> None:
        """Combine two values of one worker. A product takes a constant, or numbers would outgrow exactness."""
        one = self.random.choice(self.values)
        other = self.random.choice([value for value in self.values if value.worker == one.worker])
        factor = float(self.random.choice([-2, -1, 1, 2]))
        if self.random.random() < 0.3 and abs(one.near.item() * other.near.item()) < 1e6:
            far, near = one.far * other.far, one.near * other.near
        else:
            far, near = one.far * factor + other.far, one.near * factor + other.near
        self.values.append(Value(one.worker, far, near, one.behind | other.behind))

    def send(self) -> None:
        """Send one or two values of a worker to a worker, perhaps in vain."""
        one = self.random.choice(self.values)
        others = [value for value in self.values if value.worker == one.worker]
        sent = [one, *self.random.choices(others, k=self.random.randint(0, 1))]
        target = self.random.choice(list(self.world.cores))
        forward = self.world.call(one.worker, target, self.context, [value.far for value in sent], "program")
        self.pairs[forward] = frozenset().union(*(value.behind for value in sent))
        flight = self.world.in_flight()[-1]
        if self.random.random() < self.lateness:
            return
        if self.random.random() < 0.1:
            self.world.fail(flight.id)
            return
        self.world.deliver(flight.id)
        for value, far in zip(sent, self.world.received[forward], strict=True):
            self.values.append(Value(target, far, value.near, frozenset([forward])))

    def roots(self) -> list[Value]:
        """One or two values of one worker to begin a pass with."""
        known = [value for value in self.values if not value.far.is_leaf and self.is_open(value.worker)]
        one = self.random.choice(known)
        others = [value for value in known if value.worker == one.worker]
        return [one, *self.random.choices(others, k=self.random.randint(0, 1))]

    def is_open(self, worker: WorkerId) -> bool:
        context = self.world.cores[worker].engine.contexts.get(self.context)
        return context is not None and context.is_open

    def expected(self, roots: list[Value]) -> dict[Tensor, float]:
        """What one process gives to each leaf, by the leaf of the worker that has it."""
        found = gradients([root.near for root in roots], retain_graph=True)
        return {leaf.far: float(found[leaf.near]) for leaf in self.leaves if leaf.near in found}

    def fast_completes(self, roots: list[Value]) -> bool:
        """Say whether every send of a worker that takes part is reached from the roots: the theorem of A15."""
        reached: set[ForwardId] = set()
        todo = [pair for root in roots for pair in root.behind]
        while todo:
            pair = todo.pop()
            if pair not in reached:
                reached.add(pair)
                todo.extend(self.pairs[pair])
        engaged = {roots[0].worker, *(pair.created_on for pair in reached)}
        return all(pair in reached for pair in self.pairs if pair.created_on in engaged)

    def in_passes(self) -> int:
        """Count the workers that are in a pass."""
        tables = (core.engine.contexts.get(self.context) for core in self.world.cores.values())
        return sum(table is not None and table.task is not None for table in tables)

    def seen(self) -> dict[Tensor, float]:
        """The gradients that can be seen, on whatever worker."""
        tables = (core.engine.contexts.get(self.context) for core in self.world.cores.values())
        return {leaf: float(gradient) for table in tables if table for leaf, gradient in table.gradients.items()}


def settle(world: AutogradSimulation, random: Random, faults: int = 0) -> None:
    """Let everything happen in some order, with some copies and losses of control messages, until nothing is left."""
    while True:
        flights, works = world.in_flight(), world.workable()
        if flights or works:
            faults -= step(world, random, faults)
        elif not resend(world):
            return


def step(world: AutogradSimulation, random: Random, faults: int = 0) -> bool:
    """Let one thing happen; say whether it was a fault."""
    flights, works = world.in_flight(), world.workable()
    choice = random.randrange(len(flights) + len(works))
    if choice >= len(flights):
        world.work(works[choice - len(flights)])
        return False
    flight = flights[choice]
    if faults > 0 and isinstance(flight.message, Control | Ack) and random.random() < 0.3:
        random.choice([world.drop, world.duplicate])(flight.id)
        return True
    if isinstance(flight.message, ForwardCall) and random.random() < 0.3:
        world.fail(flight.id)
    else:
        world.deliver(flight.id)
    return False


def wander(world: AutogradSimulation, random: Random, steps: int) -> None:
    """Let some things happen."""
    for _ in range(steps):
        if world.in_flight() or world.workable():
            step(world, random)


def resend(world: AutogradSimulation) -> bool:
    """Send again what was lost; say whether there was anything."""
    waiting = [(worker, peer, number) for worker in world.cores for peer, number in world.unanswered(worker)]
    for worker, peer, number in waiting:
        world.retry(worker, peer, number)
    return bool(waiting)


def begun(program: Program, roots: list[Value], smart: bool = True, retain: bool = True) -> PassId:
    """Begin a pass."""
    return program.world.backward(roots[0].worker, program.context, [root.far for root in roots], smart, retain)


def run_until_ended(program: Program, pass_id: PassId, faults: int = 0) -> PassEnded:
    """Let things happen until `backward` returns or raises, and no longer."""
    world = program.world
    while pass_id not in world.ended:
        if world.in_flight() or world.workable():
            faults -= step(world, program.random, faults)
        else:
            assert resend(world), "the pass waits for nothing"
    return world.ended[pass_id]
