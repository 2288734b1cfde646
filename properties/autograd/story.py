"""Tell a run of distributed autograd in English, one sentence a step, in the words of the spec.

A sentence begins with what happens and goes on with what follows from it, made from the worlds before and after the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from farref.model.autograd import actions as act
from farref.model.autograd.ids import PassId, worker_name
from farref.model.autograd.messages import Fault
from farref.model.autograd.root import Pass, Phase
from farref.model.autograd.worker import Context, Worker, is_in_a_pass
from farref.model.autograd.world import pass_of, seed_of
from farref.model.checker.interface import Counterexample
from farref.properties.autograd.always import right_gradient
from farref.properties.autograd.claims import CLAIMS
from farref.properties.autograd.limits import LIMITS
from farref.properties.autograd.replay import AutogradMoment

PASSES_MAX: Final = LIMITS["passes"][1]


def tell(moment: AutogradMoment) -> str:
    """Tell one step: what happens, then what follows from it."""
    told = [_happens(moment)]
    for who in moment.model.bounds.worker_ids:
        if who in moment.after.dead:
            continue
        told += _at_worker(worker_name(who), moment.before.workers[who], moment.after.workers[who])
    for number in moment.model.bounds.pass_ids:
        told += _of_pass(moment, number, pass_of(moment.before, number), pass_of(moment.after, number))
    return "; ".join([*told, *_tells(moment)])


def _happens(moment: AutogradMoment) -> str:
    action, worker = moment.action, moment.worker
    match action:
        case act.Choose():
            return f"the program is graph {moment.graph.name}"
        case act.SendTensors(pair):
            return f"{worker} sends tensors to {worker_name(moment.graph.pairs[pair].target)}, as pair {pair}"
        case act.SendDetached(pair):
            target = worker_name(moment.graph.pairs[pair].target)
            return f"{worker} sends tensors to {target} with recording switched off, where pair {pair} would be"
        case act.Backward():
            return f"{worker} calls backward()"
        case act.TimeOut(number):
            return f"{worker} gives up waiting for pass {number}"
        case act.ReleaseContext():
            return f"{worker} releases the context"
        case act.Crash():
            return f"{worker} dies"
        case act.Notice(_, dead):
            return f"{worker} is told that {worker_name(dead)} is dead"
        case act.Deliver() | act.Duplicate() | act.DropMessage() | act.Retry() | act.Raise() | act.FailCall():
            return _befalls(moment, action)
        case _:
            assert_never(action)


def _befalls(
    moment: AutogradMoment, action: act.Deliver | act.Duplicate | act.DropMessage | act.Retry | act.Raise | act.FailCall
) -> str:
    sent = moment.address(action.message)
    message, source, target = sent.message, sent.source, sent.target
    match action:
        case act.Deliver():
            return f"{target} receives {message} from {'itself' if source == target else source}"
        case act.Duplicate():
            return f"{target} receives {message} from {source}, and the network keeps a copy to deliver again"
        case act.DropMessage():
            return f"the network drops {message} on its way from {source} to {target}"
        case act.Retry():
            return f"{source} has had no answer, and sends {message} to {target} again"
        case act.Raise():
            return f"{target} receives {message} from {source}, and a backward rule raises an exception"
        case act.FailCall():
            return f"{message} from {source} to {target} cannot be sent, or not be understood"
        case _:
            assert_never(action)


# -- what follows ------------------------------------------------------------------------------------------------------

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
        yield f"on {name} the gradient {_in_parts(after.gradient)} can be seen"


def _in_parts(gradient: int) -> str:
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
    if isinstance(moment.action, act.Retry | act.SendTensors | act.SendDetached):
        return
    for sent in moment.sent:
        yield f"{sent.source} tells {'itself' if sent.source == sent.target else sent.target}: {sent.message}"


# -- what it means -----------------------------------------------------------------------------------------------------

MEANINGS: Final = {
    "S1": "backward() has returned, and the gradient is wrong: training goes on with it.",
    "S2": "two passes have returned, and the gradient is not their sum.",
    "S3": "a pass has returned, and a part of one that failed is in its gradient, or a part of its own is missing.",
    "S4": "a gradient was added more than once.",
    "S5": "a gradient will be sent to a worker that has nothing to do with it.",
    "S8": "backward() has raised, and a part of its gradient is there: to try again adds to it.",
    "S9": "a worker takes part in a pass that is over, or whose context is gone: what it waits for never comes.",
    "S10": "the context is there again, and nobody is left who would release it.",
    "S11": "backward() has returned, and its pass goes on somewhere.",
    "T1": "FAST ended otherwise than the graph says it must.",
    "L1": "nothing more will happen, and backward() has not returned: it hangs.",
    "L3": "nothing more will happen, and a worker is still in a pass that has ended.",
    "L4": "nothing more will happen, and the context is still there: a leak for as long as the process lives.",
    "L6": "a pass has failed although nothing went wrong in it.",
}


def meaning(counterexample: Counterexample, end: AutogradMoment) -> str:
    """Say what a counterexample means, which ends with this step."""
    identity = counterexample.property.id
    told = CLAIMS[identity].text if identity in CLAIMS else MEANINGS[identity]
    wrong = list(_wrong_gradients(end)) if identity in ABOUT_GRADIENTS else []
    return " ".join([told[0].upper() + told[1:], *wrong])


ABOUT_GRADIENTS: Final = ("S1", "S2", "S3", "S8", "D4", "D5")


def _wrong_gradients(end: AutogradMoment) -> Iterator[str]:
    """Say where a gradient is wrong, and what it should be."""
    bounds = end.model.bounds
    for who in bounds.worker_ids:
        seen, right = end.after.workers[who].gradient, right_gradient(end.after, who, bounds)
        if seen != right and who not in end.after.dead:
            shown = "there is no gradient" if seen is None else f"the gradient is {_in_parts(seen)}"
            should = "there should be none" if right is None else f"it should be {_in_parts(right)}"
            yield f"On {worker_name(who)} {shown}; {should}{_from_whom(right, end)}."


def _from_whom(right: int | None, end: AutogradMoment) -> str:
    """Where passes differ, say that the whole of a gradient is due to those that ended well."""
    ended = [number for number in end.model.bounds.pass_ids if pass_of(end.after, number).phase is Phase.SUCCEEDED]
    if right is None or len(end.model.bounds.pass_ids) == 1:
        return ""
    return f", all of it from pass {' and '.join(map(str, ended))}"
