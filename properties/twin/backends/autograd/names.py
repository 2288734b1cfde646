"""Which id of the implementation is which number of the model, and what the model calls a message."""

from __future__ import annotations

from typing import Final

from farref.impl.core.autograd import messages as eng
from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.ids import Incarnation, SequenceNumber, WorkerId
from farref.impl.core.messages import Control, ForwardCall
from farref.impl.values.gradients import read_gradients
from farref.model.autograd import messages as msg
from farref.model.autograd.ids import PairId
from farref.model.autograd.ids import PassId as ModelPassId
from farref.model.autograd.messages import Fault
from farref.model.ids import WorkerId as ModelWorkerId
from farref.model.ids import worker_name
from farref.properties.autograd.observation import Counts
from farref.properties.autograd.observer import ENDED_WELL, account_content, report_content
from farref.properties.twin.backends.autograd.tensors import whole_gradient

NO_FAULT: Final = "NONE"
Numbered = tuple[WorkerId, WorkerId, SequenceNumber]
"""A control message: its sender, its receiver, its number."""


class Names:
    """What each id stands for."""

    def __init__(self, context: ContextId) -> None:
        self.context = context
        self.pairs: dict[ForwardId, PairId] = {}
        self.passes: dict[PassId, ModelPassId] = {}
        self.known: dict[Numbered, msg.Message] = {}  # control messages, as they were first sent
        self.settling: msg.Settled | None = None
        """The call that the step at hand settles: an implementation counts them, and does not say which it was (A6)."""

    def ids(self) -> dict[tuple[WorkerId, Incarnation, int], ModelPassId]:
        """The passes by what a worker remembers of them (A12)."""
        return {(one.root, one.incarnation, one.number): number for one, number in self.passes.items()}

    def message(self, source: WorkerId, target: WorkerId, message: Control | ForwardCall) -> msg.Message:
        """Name a message under way; one that is sent again is what it was."""
        if isinstance(message, ForwardCall):
            return msg.ForwardCall(self.pairs[message.forward])
        place = (source, target, message.number)
        if place not in self.known:
            self.known[place] = self._named(ModelWorkerId(source), ModelWorkerId(target), message.body)
        return self.known[place]

    def _named(self, source: ModelWorkerId, target: ModelWorkerId, body: object) -> msg.Message:
        match body:
            case eng.PropagateGradients(pass_id, forward):
                return msg.PropagateGradients(self.passes[pass_id], self.pairs[forward])
            case eng.Mark(pass_id, forward):
                return msg.Mark(self.passes[pass_id], self.pairs[forward])
            case eng.Seek(pass_id):
                return msg.Seek(self.passes[pass_id], target)
            case eng.Resume(pass_id):
                return msg.Resume(self.passes[pass_id], target)
            case eng.Report(pass_id, processed):
                return msg.Report(self.counted(pass_id, processed))
            case eng.Commit(pass_id):
                return msg.Commit(self.passes[pass_id], target)
            case eng.Committed(pass_id):
                return msg.Committed(self.passes[pass_id], source)
            case eng.Abort(pass_id):
                return msg.Abort(self.passes[pass_id], target)
            case _:
                return self._about_release(source, target, body)

    def _about_release(self, source: ModelWorkerId, target: ModelWorkerId, body: object) -> msg.Message:
        match body:
            case eng.CleanupContext():
                return msg.CleanupContext(target)
            case eng.Closed():
                return msg.Closed(source)
            case eng.Forget():
                return msg.Forget(target)
            case eng.Settled() if self.settling is not None:
                return self.settling
            case _:
                raise ValueError(f"{body} is sent, and nothing was done that it could follow from")

    def counted(self, pass_id: PassId, counted: eng.Counted) -> msg.Counted:
        """Name a counted message."""
        number, worker = self.passes[pass_id], ModelWorkerId(counted.worker)
        match counted.kind:
            case eng.Kind.GRADIENTS if counted.forward is not None:
                return msg.PropagateGradients(number, self.pairs[counted.forward])
            case eng.Kind.MARK if counted.forward is not None:
                return msg.Mark(number, self.pairs[counted.forward])
            case eng.Kind.SEEK:
                return msg.Seek(number, worker)
            case eng.Kind.RESUME:
                return msg.Resume(number, worker)
            case _:
                raise ValueError(f"{counted} is named, which never travels")

    def content(self, message: Control | ForwardCall, source: WorkerId) -> str:
        """Say what a message carries, as far as it matters to others."""
        if isinstance(message, ForwardCall):
            return "a pair" if message.tensors else "no pair"
        match message.body:
            case eng.PropagateGradients(forward=forward, body=written):
                found = [float(one) for one in read_gradients(written) if one is not None]
                return _whole(whole_gradient(self.pairs[forward], found)) if found else "none"
            case eng.Report(pass_id, _, caused, _, fault):
                told = [str(self.counted(pass_id, one)) for one in caused]
                return report_content(told, NO_FAULT if fault is None else fault.cause.name)
            case eng.Forget(_, dead):
                return " ".join(name(worker) for worker in dead)
            case eng.Closed(_, sent, got, failed):
                account = [(name(source) + name(target), number) for target, number in sent.items()]
                account += [(name(sender) + name(source), -number) for sender, number in got.items()]
                account += [(name(source) + name(target), -number) for target, number in failed.items()]
                return account_content(account)
            case _:
                return ""

    def numbers(self, forwards: tuple[ForwardId, ...]) -> tuple[int, ...]:
        """Give the numbers of some pairs, in order."""
        return tuple(sorted(self.pairs[forward] for forward in forwards))


def outcome(ended: PassEnded) -> str:
    """Say how a pass has ended."""
    fault = ended.fault
    if fault is None:
        return ENDED_WELL
    if fault.cause is eng.Cause.DIED and fault.worker == ended.pass_id.root:
        return f"{Fault.EXCLUDED.name} {name(fault.worker)}"  # nobody is told of the own death but by the fence (R38)
    is_about_sends = fault.cause is eng.Cause.UNREACHED
    return fault.cause.name if is_about_sends else f"{fault.cause.name} {name(fault.worker)}"


def name(worker: WorkerId) -> str:
    """Name a worker as the model's stories do."""
    return worker_name(ModelWorkerId(worker))


def named_counts(counts: dict[WorkerId, int]) -> Counts:
    """Name the workers that something is counted by."""
    return tuple(sorted((name(worker), number) for worker, number in counts.items() if number))


def _whole(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)
