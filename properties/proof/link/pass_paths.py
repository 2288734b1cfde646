"""Which steps of the proof of passes an action of the model is, one after the other, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from farref.model.actions import Deliver, Duplicate
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.addressing import receiver_of
from farref.model.autograd.ids import PassId
from farref.model.autograd.root import ACTIVE, Phase
from farref.model.autograd.world import Bounds, World, pass_of
from farref.model.values import IdSet, Table

Numbers = Mapping[msg.Counted, int]
NOTHING: Final[frozenset[int]] = frozenset()
FAULTS: Final = {msg.Fault.NONE: "Process", msg.Fault.UNPAIRED: "Unpaired", msg.Fault.RAISED: "Raise"}
"""What a worker does with a message, by what it tells the root. For any other fault it refuses."""


class Past(NamedTuple):
    """What became of messages, by number, and who shows what of each pass."""

    sent: IdSet
    processed: IdSet
    refused: IdSet
    unpaired: IdSet
    from_root: IdSet
    cause: Table[int | None]
    shown: Table[IdSet]  # by pass: the workers


class Taken(NamedTuple):
    """A step of the proof, by the names of its ways, and where it is taken."""

    names: tuple[str, ...]
    message: int = 0
    worker: int = 0
    number: int = 1
    caused: frozenset[int] = NOTHING


def path_of(
    before: World, action: act.Action, after: World, past: Past, bounds: Bounds, numbers: Numbers
) -> tuple[list[Taken], Past]:
    """List the steps of the proof that an action is, and add what it shows to what was known."""
    path = list(_path(before, action, after, bounds, numbers))
    for step in path:
        past = _remembered(past, step)
    return path, past


def _path(before: World, action: act.Action, after: World, bounds: Bounds, numbers: Numbers) -> Iterator[Taken]:
    match action:
        case act.Backward(who):
            number = next(one for one in bounds.pass_ids if pass_of(before, one).phase is Phase.IDLE)
            yield Taken(("Begin",), worker=who, number=number)
            yield from _reaction(before, after, number, _sent(before, after, bounds, numbers))
        case act.TimeOut(number):
            yield from _reaction(before, after, number, NOTHING)
        case Deliver(message) | Duplicate(message) | act.Raise(message):
            if bounds.places[message] in before.network.processed:
                yield from _copy(message, numbers)
            else:
                yield from _arrival(before, message, after, bounds, numbers)
                if isinstance(action, Duplicate) and isinstance(message, msg.Counted):
                    yield Taken(("the network copies",), numbers[message], number=message.number)
        case _:
            return


def _copy(message: msg.Message, numbers: Numbers) -> Iterator[Taken]:
    if isinstance(message, msg.Counted):
        yield Taken(("a copy arrives",), numbers[message], number=message.number)


def _arrival(before: World, message: msg.Message, after: World, bounds: Bounds, numbers: Numbers) -> Iterator[Taken]:
    match message:
        case msg.PropagateGradients() | msg.Mark() | msg.Seek() | msg.Resume():
            yield from _counted(before, message, after, bounds, numbers)
        case msg.Report(of):
            who = receiver_of(before, of, bounds)
            read = _read(before, of.number, before.network.carried[bounds.places[message]])
            yield Taken(read, numbers[of], who, of.number)
            yield from _reaction(before, after, of.number, _sent(before, after, bounds, numbers))
        case msg.Commit(number, worker):
            yield Taken(("Commit at a worker",), worker=worker, number=number)
        case msg.Abort(number, worker):
            yield Taken(("Abort at a worker",), worker=worker, number=number)
        case msg.Committed(number):
            yield from _reaction(before, after, number, NOTHING)
        case _:
            return


def _counted(before: World, message: msg.Counted, after: World, bounds: Bounds, numbers: Numbers) -> Iterator[Taken]:
    """A worker processes a message. A root reports to itself at once, and reacts."""
    who, number = receiver_of(before, message, bounds), message.number
    sent, is_root = _sent(before, after, bounds, numbers), pass_of(before, number).root == who
    reacts = is_root and pass_of(before, number).phase is not pass_of(after, number).phase
    name = _own_deed(before, after, number) if is_root else _deed(after, message, bounds)
    yield from _superseded(before, after, who, number, bounds)
    yield Taken((name,), numbers[message], who, number, NOTHING if reacts else sent)
    if is_root and name != "Ignore":
        read = "Enter a report" if name == "Process" else "a report tells of a fault"
        yield Taken((read,), numbers[message], who, number)
        yield from _reaction(before, after, number, sent if reacts else NOTHING)


def _deed(after: World, message: msg.Counted, bounds: Bounds) -> str:
    """Say what a worker did with a message, by what it reports."""
    told = after.network.carried[bounds.places[msg.Report(message)]]
    return "Ignore" if told is None else FAULTS.get(told.fault, "Refuse")  # type: ignore[union-attr]


def _own_deed(before: World, after: World, number: PassId) -> str:
    """Say what a root did with a message of its own pass, by what became of the pass."""
    if pass_of(before, number).phase not in ACTIVE:
        return "Ignore"
    record = pass_of(after, number)
    if record.phase is not Phase.FAILED or record.fault is msg.Fault.UNREACHED:
        return "Process"
    return FAULTS.get(record.fault, "Refuse")


def _read(before: World, number: PassId, told: object) -> tuple[str, ...]:
    """Say what a root does with a report."""
    if pass_of(before, number).phase not in ACTIVE:
        return "a late report is answered", "a late report"
    assert isinstance(told, msg.Told)
    return ("Enter a report" if told.fault is msg.Fault.NONE else "a report tells of a fault",)


def _reaction(before: World, after: World, number: PassId, sent: frozenset[int]) -> Iterator[Taken]:
    """A root goes on at a standstill, decides, and hears of its own decision at once."""
    old, new = pass_of(before, number), pass_of(after, number)
    assert new.root is not None
    if sent:
        yield Taken(("the root sends",), number=number, caused=sent)
    was_open = old.phase is Phase.IDLE or old.phase in ACTIVE
    if was_open and new.phase in (Phase.COMMITTING, Phase.SUCCEEDED):
        yield from (Taken((name,), worker=new.root, number=number) for name in ("Commit", "Commit at a worker"))
    if was_open and new.phase is Phase.FAILED:
        told = new.fault not in (msg.Fault.TIMED_OUT, msg.Fault.UNREACHED)
        names = ("Abort at a worker",) if told else ("Fail", "Abort at a worker")
        yield from (Taken((name,), worker=new.root, number=number) for name in names)
    if old.phase is not Phase.SUCCEEDED and new.phase is Phase.SUCCEEDED:
        yield Taken(("Return",), number=number)


def _superseded(before: World, after: World, who: int, number: PassId, bounds: Bounds) -> Iterator[Taken]:
    """A worker that joins a pass knows that older ones of the same root are over (A12)."""
    root = pass_of(before, number).root
    assert root is not None
    for older in bounds.pass_ids:
        if older < number and pass_of(before, older).root == root:
            knew, knows = (_is_over(world, who, root, older) for world in (before, after))
            if knows and not knew:
                yield Taken(("a worker hears of a newer pass",), worker=who, number=older)


def _is_over(world: World, who: int, root: int, number: PassId) -> bool:
    worker = world.workers[who]
    return worker.newest[root] >= number and worker.task.number != number


def _sent(before: World, after: World, bounds: Bounds, numbers: Numbers) -> frozenset[int]:
    """List the messages that a step has put into flight."""
    messages = list(bounds.places)
    places = before.network.carried.differences(after.network.carried)
    new = [messages[one] for one in places if before.network.carried[one] is None]
    return frozenset(numbers[one] for one in new if isinstance(one, msg.Counted))


# -- what is remembered ------------------------------------------------------------------------------------------------


def _remembered(past: Past, step: Taken) -> Past:
    [name, *_] = step.names
    cause = step.message if name == "Process" else None
    for one in sorted(step.caused):
        past = past._replace(sent=past.sent.add(one), cause=past.cause.put(one, cause))
        past = past if cause is not None else past._replace(from_root=past.from_root.add(one))
    if name in ("Process", "Unpaired", "Raise", "Refuse", "Ignore"):
        past = past._replace(processed=past.processed.add(step.message))
    if name in ("Raise", "Refuse", "Ignore"):
        past = past._replace(refused=past.refused.add(step.message))
    if name == "Unpaired":
        past = past._replace(unpaired=past.unpaired.add(step.message))
    if name == "Commit at a worker":
        shown = past.shown[step.number - 1].add(step.worker)
        past = past._replace(shown=past.shown.put(step.number - 1, shown))
    return past
