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

import msgspec

from farref.properties.twin.observation import flying_lines, said, unanswered_lines

Counts = tuple[tuple[str, int], ...]
"""How many, by the name of something; nothing where there is none."""


class TaskView(msgspec.Struct, frozen=True):
    """A worker's part in a pass (A11)."""

    number: int
    expected: tuple[int, ...]  # the sends it waits for
    arrived: tuple[int, ...]  # those whose gradient has come
    marked: tuple[int, ...]
    staged: int | None  # the gradient of its leaf, kept aside

    def __str__(self) -> str:
        return f"in pass {self.number} ({said(self, 'number')})"


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

    message: str
    source: str
    target: str
    content: str = ""

    @property
    def label(self) -> str:
        """The message, and what it carries."""
        return f"{self.message}, {self.content}" if self.content else self.message


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
    return balanced((name, 1) for name in names)


def balanced(account: Iterable[tuple[str, int]]) -> Counts:
    """Add up by name, and leave out what comes to nothing."""
    found: dict[str, int] = {}
    for name, number in account:
        found[name] = found.get(name, 0) + number
    return tuple(sorted((name, number) for name, number in found.items() if number))


# -- in lines ----------------------------------------------------------------------------------------------------------


def lines(observation: Observation) -> list[str]:
    """Write an observation as lines, one for each fact, so that two can be compared line by line."""
    told = [f"{one.worker}: {said(one, 'worker')}" for one in observation.workers]
    told += [f"pass {one.number}: {said(one, 'number')}" for one in observation.passes]
    if observation.release is not None:
        told.append(f"release: {said(observation.release)}")
    told += [f"amiss: {complaint}" for complaint in observation.amiss]
    return told + unanswered_lines(observation.unanswered) + flying_lines(observation.flying)
