"""Stories of passes: a worker is lost at a point, and what follows is held against A21 and A29.

The program is small. C computes 2w of its parameter w. B computes 3v of its own parameter v and adds C's result. The root makes
a pass from that sum. In one story B sends the sum to C too, where nothing depends on it, so it has to be sought (A15). The
steps of a story are the messages and the work of that pass, in the order in which they come.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from farref.impl.core.autograd.ids import PassId
from farref.impl.core.autograd.messages import Cause
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import ForwardCall
from farref.impl.core.observe import observe
from farref.impl.core.views import View
from farref.impl.errors import RpcError
from farref.impl.simulated.autograd import AutogradSimulation
from farref.impl.tape import Tensor, tensor
from farref.properties.twin.backends.crashes.points import Fate, Outcome, Point, points_of
from farref.properties.twin.backends.crashes.references import is_order
from farref.properties.twin.backends.crashes.stories import PASSES
from farref.properties.twin.backends.crashes.words import HOST, kind, worker

A, B, C = map(worker, "ABC")


def pass_points() -> list[Point]:
    """List every point of every pass."""
    return [point for story, roles in PASSES.items() for point in points_of(story, len(steps_of(story)), roles)]


def try_pass(point: Point) -> Outcome:
    """Take a pass up to a point, lose a worker there, and go on to the end."""
    steps = steps_of(point.story)
    before = f"before {steps[point.done]!r}" if point.done < len(steps) else "at the end"
    place = f"{point.story}, {before}: the {PASSES[point.story][point.letter]} is lost ({point.fate.value})"
    return Outcome(point, place, tuple(LostPass(point).problems()))


class Program(AutogradSimulation):
    """Three workers, their parameters, and a pass that is about to begin."""

    def __init__(self, story: str) -> None:
        super().__init__(4, HOST)
        self.context = self.open_context(A)
        self.parameters = {B: tensor(3.0, requires_grad=True), C: tensor(7.0, requires_grad=True)}
        self.right = {B: 3.0, C: 2.0}
        self._send(A, B)
        self._send(A, C)
        (there,) = self._send(C, B, self.parameters[C] * 2.0)
        total = self.parameters[B] * 3.0 + there
        if story == "unused":
            self._send(B, C, total * 1.0)
        self.root = B if story == "other root" else A
        if self.root == A:
            (total,) = self._send(B, A, total)
        self.run: PassId = self.backward(self.root, self.context, [total])
        self.story, self.taken = story, 0
        self.released = False
        if story == "release":
            self.call(B, C, self.context, [])  # it arrives when its context is closed (A25)

    def _send(self, source: WorkerId, target: WorkerId, *tensors: Tensor) -> list[Tensor]:
        forward = self.call(source, target, self.context, tensors)
        self.deliver(self.in_flight()[-1].id)
        return self.received[forward]

    def step(self) -> str:
        """Take the next step, and say what it was; nothing if there is none."""
        self.taken += 1
        if self.story == "aborted" and self.taken == 5 and self.root in self.cores:
            self.time_out(self.run)
            return f"the pass of worker {self.root} times out"
        if self.workable():
            who, _ = self.working[self.workable()[0]]
            self.work(self.workable()[0])
            return f"worker {who} works"
        if self.story == "release" and not self.released and self.run in self.ended and A in self.cores:
            self.released = True
            with suppress(RpcError):
                self.release(A, self.context)
            return "worker 1 releases the context"
        flights = sorted(self.deliverable(), key=lambda one: isinstance(one.message, ForwardCall))
        for flight in flights:  # a call comes last
            self.deliver(flight.id)
            return f"{kind(flight)} to worker {flight.target}"
        return ""

    def gradient(self, who: WorkerId) -> float | None:
        """Say what is seen of the gradient of a worker's parameter."""
        context = self.cores[who].engine.contexts.get(self.context)
        found = context.gradients.get(self.parameters[who]) if context else None
        return None if found is None else float(found)


_known: dict[str, tuple[str, ...]] = {}


def steps_of(story: str) -> tuple[str, ...]:
    """Take a story to its end once, to see which steps it has."""
    if story not in _known:
        program = Program(story)
        _known[story] = tuple(iter(program.step, ""))
    return _known[story]


class LostPass:
    """One pass in which a worker is lost."""

    def __init__(self, point: Point) -> None:
        self.point, self.program = point, Program(point.story)
        self.lost = worker(point.letter)

    def problems(self) -> Iterator[str]:
        """Take all of it, and say what is wrong."""
        program = self.program
        for _ in range(self.point.done):
            program.step()
        self._lose()
        self._rest()
        yield from self._judge_pass()
        yield from self._judge_next()
        for who in self._members():
            program.perform(who, program.cores[who].let_go_of_everything())
        self._rest()
        for who in self._members():
            if not observe(program.cores[who]).is_empty():
                yield f"something is left on worker {who}: {observe(program.cores[who])}"

    def _members(self) -> list[WorkerId]:
        return [who for who in self.program.cores if who != self.lost]

    def _rest(self) -> None:
        while self.program.step():
            pass

    def _lose(self) -> None:
        program = self.program
        if self.point.fate is not Fate.ZOMBIE:
            program.end(self.lost)
        if self.point.fate is Fate.HEARD:
            self._rest()
        program.exclude(self.lost)
        for flight in program.deliverable():
            if is_order(flight, View):
                program.deliver(flight.id)

    def _judge_pass(self) -> Iterator[str]:
        """The pass has ended: well, with every gradient that is left; or with an error that names the lost worker (A21)."""
        program = self.program
        stuck = [who for who in self._members() if any(c.task for c in program.cores[who].engine.contexts.values())]
        if stuck:
            yield f"workers {stuck} are still in the pass"
        if program.root == self.lost:
            return
        ended = program.ended.get(program.run)
        seen = {who: program.gradient(who) for who in program.parameters if who != self.lost}
        if ended is None:
            yield "the pass has not ended"
        elif ended.fault is not None:
            timed_out = program.story == "aborted" and ended.fault.cause is Cause.TIMED_OUT
            if (ended.fault.cause, ended.fault.worker) != (Cause.DIED, self.lost) and not timed_out:
                yield f"the pass failed with {ended.fault}"
            if any(value is not None for value in seen.values()):
                yield f"the pass failed, and of it {seen} is seen"
        elif not program.released and self.lost != A and seen != {who: program.right[who] for who in seen}:
            yield f"the pass ended well, and of it {seen} is seen"

    def _judge_next(self) -> Iterator[str]:
        """The next pass, without the lost worker, is right (A29)."""
        program = self.program
        one, other = [who for who in (A, B, C) if who != self.lost]
        program.story = ""
        program.context = program.open_context(one)
        parameter = program.parameters[other]
        program.call(one, other, program.context, [])
        self._rest()
        forward = program.call(other, one, program.context, [parameter * 5.0])
        self._rest()
        run = program.backward(one, program.context, program.received[forward])
        self._rest()
        ended = program.ended.get(run)
        if ended is None or ended.fault is not None or program.gradient(other) != 5.0:
            yield f"the next pass ended with {ended}, and {program.gradient(other)} is seen of it"
