"""What follows from a step of distributed autograd, told from the difference between the worlds before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.model.actions import Retry
from farref.model.autograd import actions as act
from farref.model.autograd.ids import PassId
from farref.model.autograd.messages import Fault
from farref.model.autograd.root import Pass, Phase
from farref.model.autograd.worker import Context, Worker, is_in_a_pass
from farref.model.autograd.world import pass_of, seed_of
from farref.model.ids import worker_name
from farref.properties.autograd.limits import PASSES_MAX
from farref.properties.autograd.replay import AutogradMoment


def consequences(moment: AutogradMoment) -> Iterator[str]:
    """List what follows from a step, each as a clause of its sentence."""
    for who in moment.model.bounds.worker_ids:
        if who not in moment.after.dead:
            yield from _at_worker(worker_name(who), moment.before.workers[who], moment.after.workers[who])
    for number in moment.model.bounds.pass_ids:
        yield from _of_pass(moment, number, pass_of(moment.before, number), pass_of(moment.after, number))
    yield from _tells(moment)


CONTEXTS: Final = {
    Context.OPEN: "opens the context",
    Context.CLOSED: "closes the context",
    Context.GONE: "forgets the context",
}


def _at_worker(name: str, before: Worker, after: Worker) -> Iterator[str]:
    if before.context is not after.context and after.context in CONTEXTS:
        again = ", which it had forgotten" if after.resurrected and not before.resurrected else ""
        yield f"{name} {CONTEXTS[after.context]}{again}"
    yield from (f"{name} records send {pair}" for pair in after.sends.members() if pair not in before.sends)
    yield from (f"{name} records recv {pair}" for pair in after.recvs.members() if pair not in before.recvs)
    yield from _in_pass(name, before, after)
    if after.gradient != before.gradient and after.gradient is not None:
        yield f"on {name} the gradient {in_parts(after.gradient)} can be seen"


def in_parts(gradient: int) -> str:
    """Write a gradient, and if several passes are in it, how much is from which: each begins with a seed of its own size."""
    seeds = {number: seed_of(PassId(number)) for number in range(1, PASSES_MAX + 1)}
    parts = {number: gradient % seed_of(PassId(number + 1)) // seed * seed for number, seed in seeds.items()}
    told = [f"{part} from pass {number}" for number, part in parts.items() if part]
    return f"{gradient} ({', '.join(told)})" if len(told) > 1 else str(gradient)


def _in_pass(name: str, before: Worker, after: Worker) -> Iterator[str]:
    was, is_now = before.task, after.task
    if was.number != is_now.number:
        if is_in_a_pass(before):
            yield f"{name} leaves pass {was.number}"
        if is_in_a_pass(after):
            waits = ", ".join(map(str, is_now.expected.members()))
            yield f"{name} engages in pass {is_now.number}{f', and waits for sends {waits}' if waits else ''}"
    elif was.expected != is_now.expected:
        given_up = ", ".join(str(pair) for pair in was.expected.members() if pair not in is_now.expected)
        yield f"{name} gives up send {given_up}"
    yield from (f"{name} marks send {pair}" for pair in is_now.marked.members() if pair not in was.marked)
    for pair, (old, new) in enumerate(zip(was.arrivals, is_now.arrivals, strict=True)):
        if new > max(old, 1):
            yield f"{name} has taken {new} gradients for send {pair}"
    if is_now.staged is not None and is_now.staged != was.staged:
        yield f"{name} keeps the gradient {is_now.staged} aside"


PHASES: Final = {
    Phase.MARKING: "is at a standstill, and finds out which sends a gradient can still come for",
    Phase.RESUMED: "is at a standstill, and gives up the other sends",
    Phase.COMMITTING: "is complete, and is committed",
    Phase.SUCCEEDED: "has ended well: backward() returns",
}
FAULTS: Final = {
    Fault.RAISED: "a backward rule raised on {0}",
    Fault.TIMED_OUT: "it timed out",
    Fault.UNREACHED: "no gradient will come for a send of {0}",
    Fault.BUSY: "{0} is in a pass of another root",
    Fault.RELEASED: "the context is released on {0}",
    Fault.UNPAIRED: "{0} has no such send",
    Fault.DIED: "{0} is dead",
    Fault.EXCLUDED: "{0} is excluded",
}


def _of_pass(moment: AutogradMoment, number: PassId, before: Pass, after: Pass) -> Iterator[str]:
    if before.phase is after.phase:
        return
    if after.phase is Phase.FAILED:
        why = FAULTS[after.fault].format("" if after.blamed is None else worker_name(after.blamed))
        yield f"backward() raises on {moment.root(number)}: {why}"
    elif after.phase in PHASES:
        yield f"pass {number} {PHASES[after.phase]}"


def _tells(moment: AutogradMoment) -> Iterator[str]:
    if isinstance(moment.action, Retry | act.SendTensors | act.SendDetached):
        return
    for sent in moment.sent:
        yield f"{sent.source} tells {sent.listener}: {sent.message}"
