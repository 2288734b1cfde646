"""Control messages: they arrive once or often, are answered every time, and take effect once (R5 to R7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from farref.properties.proof.logic.formulas import TRUE, Formula, all_of
from farref.properties.proof.rref.effects import entered, release, served, settle
from farref.properties.proof.rref.point import Point, Step
from farref.properties.proof.rref.rules import Rules
from farref.properties.proof.rref.state import CONTROL, State

NAMES: Final = {
    "fork_request": "ForkRequest",
    "child_accept": "ChildAccept",
    "user_delete": "UserDelete",
    "create_failed": "CreateFailed",
}

Handler = Callable[[Formula, State, State, Point, Rules], Iterator[Step]]
"""What a message does: when, the state before, the state in which it is taken and answered, where, under which rules."""


def deliver(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A control message arrives. The first copy takes effect, and every copy is answered (R7)."""
    for kind in CONTROL:
        message = s.control(kind)
        taken = s.with_control(kind, at.fork, flying=at.stays, processed=True, answering=True)
        is_first = ~message.processed(at.fork) if rules["processes_once"] else TRUE
        yield Step(f"{NAMES[kind]} again", message.flying(at.fork) & ~is_first, taken)
        yield from EFFECTS[kind](message.flying(at.fork) & is_first, s, taken, at, rules)


def on_fork_request(guard: Formula, s: State, taken: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner counts a fork that a user gave to another (R16)."""
    yield Step("ForkRequest", guard, taken.at(at.fork, counted=True))


def on_child_accept(guard: Formula, s: State, taken: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The parent learns that its child is counted (R24)."""
    known = taken.at(at.fork, kept=False)
    yield from release("ChildAccept", guard & s.parent(at.fork, at.other), known, at.other, rules)


def on_user_delete(guard: Formula, s: State, taken: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner stops counting a fork (R26)."""
    yield Step("UserDelete of a fork that is not counted", guard & ~s.counted(at.fork), taken)
    counted = all_of(guard, at.mine, s.counted(at.fork))
    yield from settle("UserDelete", counted, taken.at(at.fork, counted=False), at.rref, rules)


def on_create_failed(guard: Formula, s: State, taken: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner keeps an error in place of the value, and counts the creator (R29)."""
    kept = served(entered(taken, at.rref, ready=True), at.rref)
    yield Step("CreateFailed", guard & at.mine, kept.at(at.fork, counted=True))


EFFECTS: Final[dict[str, Handler]] = {
    "fork_request": on_fork_request,
    "child_accept": on_child_accept,
    "user_delete": on_user_delete,
    "create_failed": on_create_failed,
}


def acknowledge(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """An Ack arrives. Its sender stops waiting; what it waited for may be its own confirmation."""
    for kind in CONTROL:
        message = s.control(kind)
        flies, waits = message.answering(at.fork), message.unanswered(at.fork)
        late = s.with_control(kind, at.fork, answering=at.stays)
        yield Step(f"Ack({NAMES[kind]}) that nobody waits for", flies & ~waits, late)
        told = late.with_control(kind, at.fork, unanswered=False)
        yield from _answered(kind, flies & waits, s, told, at, rules)


def _answered(kind: str, guard: Formula, s: State, told: State, at: Point, rules: Rules) -> Iterator[Step]:
    name = f"Ack({NAMES[kind]})"
    if kind in ("child_accept", "user_delete"):
        yield Step(name, guard, told)
        return
    yield Step(f"{name} of a fork that is not pending", guard & ~s.pending(at.fork), told)
    confirmed = told.at(at.fork, pending=False, confirmed=True)
    if kind == "create_failed":
        yield from release(name, guard & s.pending(at.fork), confirmed, at.fork, rules)
    else:
        yield from _counted(name, guard & s.pending(at.fork), s, confirmed, at, rules)


def _counted(name: str, guard: Formula, s: State, confirmed: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A child learns that it is counted: it accepts towards its parent, and a parked call runs (R17, R18)."""
    runs = confirmed.at(at.fork, parked=False, held=s.held(at.fork) | s.parked(at.fork))
    accepts = runs.send("child_accept", at.fork) if rules["accepts_after_confirmation"] else runs
    if rules["accepts_before_user_code"]:
        yield from release(name, guard, accepts, at.fork, rules)
    else:
        yield Step(f"{name}: the call runs, and will accept", guard & s.parked(at.fork), runs)
        yield from release(name, guard & ~s.parked(at.fork), accepts, at.fork, rules)


def lose(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The network loses a control message or an Ack, as often as it likes (R3)."""
    for kind in CONTROL:
        message = s.control(kind)
        yield Step(f"Lose {NAMES[kind]}", message.flying(at.fork), s.with_control(kind, at.fork, flying=False))
        yield Step(
            f"Lose Ack({NAMES[kind]})", message.answering(at.fork), s.with_control(kind, at.fork, answering=False)
        )


def retry(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A control message that is not answered is sent again, whenever its sender likes (R6)."""
    if rules["retries_until_answered"]:
        for kind in CONTROL:
            again = s.with_control(kind, at.fork, flying=True)
            yield Step(f"Retry {NAMES[kind]}", s.control(kind).unanswered(at.fork), again)
