"""Exactly-once control messages over a network that loses, repeats and reorders (R5 to R7, R30).

For each peer there is one sender's half and one receiver's half.

*Sending.* Messages are numbered 1, 2, 3, … and kept until answered. Each says the lowest number still unanswered. At most
`WINDOW` numbers are in flight; later ones queue here. There is no last attempt: the waiting time doubles up to a limit, and a
message leaves this table by its answer or by its peer's death only.

*Receiving.* A mark and the numbers above it that took effect. The mark moves up to what the sender said, so the set never
exceeds the window. A number below the mark, or in the set, is a copy: answered, without effect. An incarnation newer than
the one seen starts the half afresh; an older one is discarded without an answer, for nobody is left to hear it. So is a
number outside the window, which no honest sender uses: memory here is bounded whatever arrives.

The waiting times are spread by a fraction computed from the message's number. That is as good as a random one for keeping
retries apart, and the core stays deterministic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from farref.impl.core.here import Here
from farref.impl.core.ids import Incarnation, SequenceNumber, WorkerId
from farref.impl.core.messages import Ack, Control, ControlBody
from farref.impl.core.views import Suspect
from farref.impl.errors import WireError
from farref.impl.limits import CONTROL_MOST

FIRST: Final = SequenceNumber(1)
WINDOW: Final = CONTROL_MOST
FIRST_INTERVAL_S: Final = 0.5
LONGEST_INTERVAL_S: Final = 8.0
SPREAD: Final = 0.25
GOLDEN: Final = 0.618033988749895


def interval(number: SequenceNumber, attempt: int, first_s: float = FIRST_INTERVAL_S) -> float:
    """Say how long to wait after an attempt: it grows, has a limit and differs from message to message (R6)."""
    plain = min(first_s * 2.0 ** min(attempt, 16), LONGEST_INTERVAL_S) if attempt else first_s
    return plain * (1.0 - SPREAD * ((number * GOLDEN + attempt * GOLDEN) % 1.0))


class Unanswered(Struct):
    """One control message that waits for its answer (R30)."""

    body: ControlBody
    since: float
    due: float
    attempt: int = 0


@dataclass(slots=True)
class Outgoing:
    """The sender's half: what one peer has not answered yet."""

    incarnation: Incarnation
    first_interval_s: float = FIRST_INTERVAL_S
    last: int = 0
    unanswered: dict[SequenceNumber, Unanswered] = field(default_factory=dict)
    queued: deque[tuple[SequenceNumber, ControlBody, float]] = field(default_factory=deque)
    window: int = WINDOW
    """How many may be unanswered. A receiver allows no more than WINDOW."""

    def add(self, body: ControlBody, now: float) -> list[Control]:
        """Number a message and send it, unless the window is full."""
        self.last += 1
        number = SequenceNumber(self.last)
        if self.queued or (self.unanswered and number >= self.lowest + self.window):
            self.queued.append((number, body, now))
            return self._release(now)
        return [self._begin(number, body, now, now)]

    def settle(self, number: SequenceNumber, now: float) -> tuple[ControlBody | None, list[Control]]:
        """Take an answered message off, and send what the window now allows. A second answer finds nothing."""
        waiting = self.unanswered.pop(number, None)
        return (waiting.body if waiting else None), self._release(now) if self.queued else []

    def retry(self, number: SequenceNumber, now: float) -> Control:
        """Send a message again, with the lowest number as it is now."""
        waiting = self.unanswered[number]
        waiting.attempt += 1
        waiting.due = now + interval(number, waiting.attempt, self.first_interval_s)
        return Control(self.incarnation, number, self.lowest, waiting.body)

    def due(self, now: float) -> list[SequenceNumber]:
        """List the numbers whose next attempt is due."""
        return [number for number, waiting in self.unanswered.items() if waiting.due <= now]

    @property
    def lowest(self) -> SequenceNumber:
        """The lowest number still waited for. Numbers enter the table in order, so it is the first in it."""
        return next(iter(self.unanswered), SequenceNumber(self.last - len(self.queued) + 1))

    def _release(self, now: float) -> list[Control]:
        sent = []
        while self.queued and self.queued[0][0] < self.lowest + self.window:
            number, body, since = self.queued.popleft()
            sent.append(self._begin(number, body, since, now))
        return sent

    def _begin(self, number: SequenceNumber, body: ControlBody, since: float, now: float) -> Control:
        """Keep a message until it is answered, and give it its first attempt."""
        self.unanswered[number] = Unanswered(body, since, now + interval(number, 0, self.first_interval_s))
        return Control(self.incarnation, number, next(iter(self.unanswered)), body)


@dataclass(slots=True)
class Incoming:
    """The receiver's half: which numbers of one peer have taken effect."""

    incarnation: Incarnation
    mark: SequenceNumber = FIRST
    processed: set[SequenceNumber] = field(default_factory=set)
    was_shown: bool = False
    """Whether the peer has shown this incarnation as the two met: then no other comes after it."""

    def is_refused(self, control: Control) -> bool:
        """Say whether a message comes from a life that has ended, or from outside the window (R7)."""
        return control.incarnation < self.incarnation or not 0 <= control.number - control.lowest < WINDOW

    def take(self, control: Control) -> bool:
        """Note a message, and say whether it takes effect: only its first copy does (R7)."""
        if control.incarnation > self.incarnation:
            if self.was_shown:
                raise WireError(f"a control message is of incarnation {control.incarnation}, not of {self.incarnation}")
            self.incarnation, self.mark, self.processed = control.incarnation, FIRST, set()
        if control.lowest > self.mark:
            self._raise_mark(control.lowest)
        if control.number < self.mark or control.number in self.processed:
            return False
        self.processed.add(control.number)
        return True

    def would_take(self, control: Control) -> bool:
        """Say whether a message is to take effect, without noting it."""
        if self.is_refused(control):
            return False
        is_known = control.number < self.mark or control.number in self.processed
        return control.incarnation > self.incarnation or not is_known

    def _raise_mark(self, lowest: SequenceNumber) -> None:
        if lowest - self.mark <= len(self.processed):
            self.processed.difference_update(range(self.mark, lowest))
        else:
            self.processed = {number for number in self.processed if number >= lowest}
        self.mark = lowest


class Channel:
    """Both halves for every peer of one worker."""

    def __init__(self, here: Here) -> None:
        self.outgoing: dict[WorkerId, Outgoing] = {}
        self.incoming: dict[WorkerId, Incoming] = {}
        self.first_interval_s = FIRST_INTERVAL_S
        """How long the halves made from now on wait before they send something again."""
        self.window = WINDOW
        """How many messages of each half made from now on may be unanswered."""
        self._here = here

    def send(self, target: WorkerId, body: ControlBody) -> None:
        """Send a control message, to be sent again until answered (R6). There is nobody to tell at a dead peer (R30)."""
        here = self._here
        if target not in here.workers:
            raise WireError(f"a peer speaks of worker {target}, and there is none")
        if target not in here.dead:
            for control in self.to(target).add(body, here.now):
                here.send(target, control)

    def settle(self, peer: WorkerId, ack: Ack) -> ControlBody | None:
        """Stop repeating what was answered, and say what it was: one of this life that no answer had come for (R5)."""
        here = self._here
        if ack.incarnation != here.incarnation:
            return None
        body, released = self.to(peer).settle(ack.number, here.now)
        for control in released:
            here.send(peer, control)
        return body

    def retry_due(self) -> None:
        """Send again what has waited long enough (R6)."""
        here = self._here
        for peer, half in self.outgoing.items():
            for number in half.due(here.now):
                here.send(peer, half.retry(number, here.now))

    def to(self, peer: WorkerId) -> Outgoing:
        """Find the sender's half for a peer."""
        half = self.outgoing.get(peer)
        if half is None:
            half = self.outgoing[peer] = Outgoing(self._here.incarnation, self.first_interval_s, window=self.window)
        return half

    def from_(self, peer: WorkerId) -> Incoming:
        """Find the receiver's half for a peer."""
        half = self.incoming.get(peer)
        if half is None:
            shown = self._here.lives.get(peer)
            half = self.incoming[peer] = Incoming(shown or Incarnation(0), was_shown=shown is not None)
        return half

    def forget(self, peer: WorkerId) -> None:
        """Stop waiting for a peer that was declared dead (R30, R34)."""
        self.outgoing.pop(peer, None)
        self.incoming.pop(peer, None)

    def waiting(self, peer: WorkerId) -> int:
        """Say how many messages to a peer wait for their turn."""
        half = self.outgoing.get(peer)
        return 0 if half is None else len(half.queued)

    def owes(self) -> bool:
        """Say whether an answer is missing that matters. Advice keeps nothing: its reader may have left (R36)."""
        return any(type(body) is not Suspect for _, _, body, _ in self.unanswered())

    def unanswered(self) -> Iterator[tuple[WorkerId, SequenceNumber, ControlBody, float]]:
        """List every message that waits for an answer or for its turn, with the time it was first given."""
        for peer, half in self.outgoing.items():
            for number, waiting in half.unanswered.items():
                yield peer, number, waiting.body, waiting.since
            for number, body, since in half.queued:
                yield peer, number, body, since
