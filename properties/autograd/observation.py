"""What can be seen of a run of distributed autograd from outside, in words that every implementation shares (A8, A10, A11).

An observation has, for each living worker, what it knows of the context and its part in a pass; for each pass, what its root
keeps until it ends, and then its outcome; for a release, what the creator keeps; and what is under way. Workers are A, B, ...,
pairs and passes have the model's numbers. Whoever observes another implementation keeps the list of which id is which.

Where the model names each call, an observation counts them, as A6 allows. It leaves out what a message means to its receiver
only: acknowledgements, numbers, and when it is told which sends a task waits for. Of a closed context it leaves out the
calls: they were told to the creator in `Closed`. What an implementation has and the words here cannot
say goes into `amiss`, which is empty as long as all is well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

Counts = tuple[tuple[str, int], ...]
"""How many, by the name of something; nothing where there is none."""


class TaskView(msgspec.Struct, frozen=True):
    """A worker's part in a pass (A11)."""

    number: int
    expected: tuple[int, ...]  # the sends it waits for
    arrived: tuple[int, ...]  # those whose gradient has come
    marked: tuple[int, ...]
    staged: int | None  # the gradient of its leaf, kept aside


class WorkerView(msgspec.Struct, frozen=True):
    """What a worker knows of the context (A8)."""

    worker: str
    context: str  # absent, open, closed
    sends: tuple[int, ...] = ()
    recvs: tuple[int, ...] = ()
    sent: Counts = ()  # by the worker a call was sent to
    got: Counts = ()  # by the worker it came from
    failed: Counts = ()
    gradient: int | None = None
    task: TaskView | None = None
    newest: Counts = ()  # by root
    mourned: tuple[str, ...] = ()


class PassView(msgspec.Struct, frozen=True):
    """What a root keeps of its pass (A10), or how it has ended."""

    number: int
    root: str
    phase: str  # running, marking, resumed, committing, or how it has ended
    engaged: tuple[str, ...] = ()
    under_way: tuple[str, ...] = ()  # counted messages that were caused
    early: tuple[str, ...] = ()  # those that were processed, and nobody is known to have caused them
    uncommitted: tuple[str, ...] = ()
    unreached: tuple[int, ...] = ()  # the sends that the error names


class ReleaseView(msgspec.Struct, frozen=True):
    """What the creator of a released context keeps (A25)."""

    told: tuple[str, ...]
    closed: tuple[str, ...]
    balance: Counts  # by the two workers: calls sent, less calls settled


class MessageView(msgspec.Struct, frozen=True, order=True):
    """A message, under way or unanswered."""

    label: str
    source: str
    target: str
    content: str = ""


class Observation(msgspec.Struct, frozen=True):
    """Everything there is to see after a step."""

    workers: tuple[WorkerView, ...]
    passes: tuple[PassView, ...]
    release: ReleaseView | None
    flying: tuple[MessageView, ...]
    unanswered: tuple[MessageView, ...]
    amiss: tuple[str, ...] = ()  # what should not be, in words of its own


def counts(names: Iterable[str]) -> Counts:
    """Count names."""
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return tuple(sorted(found.items()))


def balanced(account: Iterable[tuple[str, int]]) -> Counts:
    """Add up by name, and leave out what comes to nothing."""
    found: dict[str, int] = {}
    for name, number in account:
        found[name] = found.get(name, 0) + number
    return tuple(sorted((name, number) for name, number in found.items() if number))


# -- differences -------------------------------------------------------------------------------------------------------


def lines(observation: Observation) -> list[str]:
    """Write an observation as lines, one for each fact, so that two can be compared line by line."""
    told = [f"{one.worker}: {_said(one)}" for one in observation.workers]
    told += [f"pass {one.number}: {_said(one)}" for one in observation.passes]
    if observation.release is not None:
        told.append(f"release: {_said(observation.release)}")
    told += [f"amiss: {complaint}" for complaint in observation.amiss]
    told += [f"{one.source} waits for an answer from {one.target}: {one.label}" for one in observation.unanswered]
    return told + [f"in flight from {one.source} to {one.target}: {_label(one)}" for one in observation.flying]


def _label(message: MessageView) -> str:
    return f"{message.label}, {message.content}" if message.content else message.label


def _said(view: Any) -> str:
    """Say a view in one line: each field that says anything."""
    fields = (name for name in view.__struct_fields__ if name not in ("worker", "number"))
    return ", ".join(
        f"{name.replace('_', ' ')} {_plain(getattr(view, name))}"
        for name in fields
        if getattr(view, name) not in (None, ())
    )


def _plain(value: object) -> str:
    match value:
        case TaskView():
            return f"in pass {value.number} ({_said(value)})"
        case tuple():
            return " ".join(f"{one[0]}:{one[1]}" if isinstance(one, tuple) else str(one) for one in value) or "none"
        case _:
            return str(value)
