"""Distributed autograd on the simulated network: every delivery, and every piece of a task's work, is chosen by the caller.

Programs are run by hand. `call` sends tensors from one worker to another; once it has been delivered, `received` has the
tensors there, which hang on the pair. What is computed from them is the caller's choice, and so is when. A task's work is
listed in `working` in place of being done at once, as in a real worker it is done by some thread at some time; of one task,
only the oldest piece may be done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from farref.impl.core.autograd.effects import PassEnded, TakeForDead, Work
from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.effects import Effect, RunCall, Send
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import ForwardCall
from farref.impl.simulated.network import InFlight, Simulation
from farref.impl.tape.functions import receive
from farref.impl.tape.graph import Array, Receive
from farref.impl.tape.passes import root_of
from farref.impl.tape.tensors import Tensor
from farref.impl.values.gradients import GradientWalk
from farref.impl.values.reports import write_error
from farref.impl.values.tensors import Passage


@dataclass(frozen=True, slots=True)
class Arrived:
    """What was read of a call: what its tensors hang on, and the tensors."""

    forward: ForwardId
    node: Receive | None
    tensors: list[Tensor]


class AutogradSimulation(Simulation):
    """Workers 0 to n-1, every message between them, and every piece of work on them."""

    def __init__(self, workers: int, host: int = 0) -> None:
        super().__init__(workers, host)
        self.received: dict[ForwardId, list[Tensor]] = {}
        self.ended: dict[PassId, PassEnded] = {}
        self.working: list[tuple[WorkerId, Work]] = []
        self._payloads: dict[ForwardId, list[Array]] = {}

    # The application

    def open_context(self, worker: WorkerId) -> ContextId:
        """Let a worker open a context."""
        return self.cores[worker].engine.open_context()

    def call(
        self, worker: WorkerId, target: WorkerId, context: ContextId, tensors: Sequence[Tensor], function: str = "f"
    ) -> ForwardId:
        """Let a worker send tensors to another; those that need a gradient are the pair."""
        paired = [tensor for tensor in tensors if tensor.requires_grad]
        _, effects = self.cores[worker].call(target, function, within=Passage(context, function, True, paired))
        (forward,) = (
            effect.message.forward
            for effect in effects
            if isinstance(effect, Send) and isinstance(effect.message, ForwardCall)
        )
        self._payloads[forward] = [tensor.data for tensor in paired]
        self.perform(worker, effects)
        return forward

    def backward(
        self, worker: WorkerId, context: ContextId, roots: Sequence[Tensor], smart: bool = True, retain: bool = False
    ) -> PassId:
        """Let a worker begin a pass."""
        seeds = tuple(np.ones_like(root.data) for root in roots)
        pass_id, effects = self.cores[worker].engine.begin(context, root_of(roots), seeds, smart, retain)
        self.perform(worker, effects)
        return pass_id

    def time_out(self, pass_id: PassId) -> None:
        """Let the time of a pass be up."""
        self.perform(pass_id.root, self.cores[pass_id.root].engine.time_out(pass_id))

    def release(self, worker: WorkerId, context: ContextId) -> None:
        """Let a worker release a context."""
        self.perform(worker, self.cores[worker].engine.release(context))

    # Work

    def workable(self) -> list[int]:
        """List the pieces of work that may be done now: the oldest of each task."""
        oldest = {id(work.task): index for index, (_, work) in reversed(list(enumerate(self.working)))}
        return sorted(oldest.values())

    def work(self, index: int) -> None:
        """Do one piece of work. What it raises is the pass's fault, not the caller's."""
        worker, work = self.working.pop(index)
        if worker not in self.cores:
            return
        try:
            progress = work.task.process(work.body, GradientWalk)
        except Exception as error:
            report = write_error(error, f"worker {worker}", "backward")
            self.perform(worker, self.cores[worker].engine.raised(work, report))
        else:
            self.perform(worker, self.cores[worker].engine.worked(work, progress))

    # Beneath

    def arrive(self, flight: InFlight) -> None:
        """Let a message arrive; the tensors of a call hang on its pair."""
        message, content = flight.message, None
        if isinstance(message, ForwardCall):
            node, tensors = receive(self._payloads[message.forward]) if message.tensors else (None, [])
            content = Arrived(message.forward, node, tensors)
        self.perform(flight.target, self.cores[flight.target].receive(flight.source, message, content))

    def perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step of a worker asks for; work of tasks is listed, to be done later."""
        super().perform(worker, effects)
        for effect in effects:
            match effect:
                case RunCall(content=Arrived() as arrived):
                    self.received[arrived.forward] = arrived.tensors
                case Work():
                    self.working.append((worker, effect))
                case PassEnded(pass_id):
                    self.ended[pass_id] = effect
                case TakeForDead(peer) if not self.by_views:
                    self.perform(worker, self.cores[worker].peer_died(peer, "somebody said so"))
                case _:
                    pass
