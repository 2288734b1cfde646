"""What a worker knows of a context: what it recorded, and its part in a pass. What happens in a pass is in `task.py`.

A context is opened by the application on one worker, the creator, and by the first call that carries its id on every other
(A8). Which ends of a pair are recorded is decided once, by the worker that sends the tensors (A7).

Not pretty: `resurrected` and the phase GONE are history, kept for properties. To a worker, GONE is ABSENT.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from farref.model.autograd.ids import NO_PASS, PairId, PassId
from farref.model.autograd.messages import Counted, Message
from farref.model.autograd.rules import AutogradRules
from farref.model.values import IdSet, Table, no_ids


class Context(IntEnum):
    """The life of a context on one worker."""

    ABSENT = 0  # not in the table
    OPEN = 1
    CLOSED = 2  # released: keeps its id and its counts, and nothing else
    GONE = 3  # no longer in the table


class Fault(IntEnum):
    """Why a pass fails."""

    NONE = 0
    RAISED = 1  # a backward rule raised an exception
    TIMED_OUT = 2  # the application gave up
    UNREACHED = 3  # FAST, and some send never gets a gradient
    BUSY = 4  # a worker is in a pass of another root
    RELEASED = 5  # a worker has no such context any more
    UNPAIRED = 6  # a gradient came for a send that was not recorded
    DIED = 7  # a worker that takes part was declared dead


class Task(NamedTuple):
    """A worker's part in a pass (A11)."""

    number: PassId  # NO_PASS if it takes part in none
    seed: int  # the gradient of the root, 0 if that is elsewhere
    expected: IdSet  # the sends it waits for
    arrivals: Table[int]  # by pair: the gradients that came
    totals: Table[int]  # by pair: their sum
    marked: IdSet  # the sends that a gradient will come for, as far as is known (SMART)
    staged: int | None  # the gradient of the leaf, kept aside


class Worker(NamedTuple):
    """What a worker knows of a context (A8)."""

    context: Context
    sends: IdSet
    recvs: IdSet
    sent: IdSet  # the calls it sent in this context, with or without a pair
    got: IdSet  # the calls it received
    failed: IdSet  # the calls it sent that nobody received
    gradient: int | None  # of its leaf, as `get_gradients` shows it
    task: Task
    newest: Table[PassId]  # by root: the newest pass it heard of
    mourned: IdSet  # the workers that were declared dead to it
    resurrected: bool = False  # the context came back after it was gone


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker tells the root of a counted message."""

    caused: frozenset[Counted] = frozenset()
    expected: frozenset[PairId] = frozenset()
    fault: Fault = Fault.NONE


Parcel = tuple[Message, object]
"""A message and what it carries; True where it carries nothing."""

Step = tuple[Worker, tuple[Parcel, ...], Told | None]


def no_task(pairs: int) -> Task:
    """Make the task of a worker that is in no pass."""
    zeros = Table((0,) * pairs)
    return Task(NO_PASS, 0, no_ids(pairs), zeros, zeros, no_ids(pairs), None)


def stranger(workers: int, pairs: int) -> Worker:
    """Make the record of a worker that has not heard of the context."""
    none = no_ids(pairs)
    newest = Table((NO_PASS,) * workers)
    return Worker(Context.ABSENT, none, none, none, none, none, None, no_task(pairs), newest, no_ids(workers))


# -- recording ---------------------------------------------------------------------------------------------------------


def record_send(worker: Worker, pair: PairId, attached: bool) -> Worker:
    """Note a call before it leaves; with tensors that need a gradient, record its send (A8)."""
    sends = worker.sends.add(pair) if attached else worker.sends
    return worker._replace(sent=worker.sent.add(pair), sends=sends)


def on_forward_call(worker: Worker, pair: PairId, attached: bool, rules: AutogradRules) -> Worker:
    """Open the context if need be, and record the recv as the sender decided (A7)."""
    came_back = worker.context is Context.GONE
    recorded = attached or not rules.sender_decides_pairing
    recvs = worker.recvs.add(pair) if recorded else worker.recvs
    worker = worker._replace(context=Context.OPEN, recvs=recvs, got=worker.got.add(pair))
    return worker._replace(resurrected=True) if came_back else worker


# -- taking part ------------------------------------------------------------------------------------------------------


def leave(worker: Worker) -> Worker:
    """Take part in no pass any more."""
    return worker._replace(task=no_task(len(worker.sends)))


def is_in_a_pass(worker: Worker) -> bool:
    """Say whether a worker takes part in a pass."""
    return worker.task.number != NO_PASS
