"""How much a worker does for each peer at once, and when it takes on no more (`spec/limits.md`).

What counts is all that has arrived from a peer and has not ended: calls and creations that run, or wait to, and fetches that
wait for a value or for room in the queue.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import AnyMessage, Call, FetchCall, ForwardCall, RemoteCall
from farref.impl.core.parking import weight
from farref.impl.errors import LimitReached
from farref.impl.limits import reached

if TYPE_CHECKING:
    from farref.impl.core.effects import RunCall, RunCreation
    from farref.impl.worker.worker import Worker

ASKING: Final = (Call, RemoteCall, FetchCall)


class Serving:
    """What one worker does for others, and what it has asked of them. Under the worker's lock."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._limits = limits = worker.settings.limits
        self.calls: Counter[WorkerId] = Counter()
        """Functions that were begun for each peer and have not ended."""
        self.bytes: Counter[WorkerId] = Counter()
        self.answers: Counter[WorkerId] = Counter()
        """Fetches of each peer whose answers have not been written."""
        worker.core.here.references_max = limits.references_max
        worker.core.channel.window = limits.control_max

    def begin(self, run: RunCall | RunCreation) -> None:
        """Begin a function for a peer."""
        self.calls[run.source] += 1
        self.bytes[run.source] += weight(run)

    def end(self, source: WorkerId, size: int) -> None:
        """End a function, whose call took so many bytes."""
        self.calls[source] -= 1
        self.bytes[source] -= size

    def count(self, source: WorkerId) -> int:
        """Say how much of a peer has not ended."""
        core = self._worker.core
        parked, fetches = core.parking.calls[source], core.owner.counts.fetches[source]
        return self.calls[source] + parked + fetches + self.answers[source]

    def bytes_of(self, source: WorkerId) -> int:
        """Say how many bytes the calls of a peer take that have not ended."""
        return self.bytes[source] + self._worker.core.parking.bytes[source]

    def objection(self, source: WorkerId, message: AnyMessage) -> str | None:
        """Say why a call, a creation or a fetch is too much, if it is."""
        carried = message.message if isinstance(message, ForwardCall) else message
        if not isinstance(carried, ASKING):
            return None
        limits, me = self._limits, self._worker.names[self._worker.rank]
        with self._worker.lock:
            if self.count(source) >= limits.calls_max:
                return reached(f"{me} does as much for one worker as it may", "calls_max", limits.calls_max)
            if self.bytes_of(source) >= limits.received_bytes_max:
                what = f"{me} keeps as much for the calls of one worker as it may"
                return reached(what, "received_bytes_max", limits.received_bytes_max)
        return None

    def check_own(self) -> None:
        """Refuse to ask for more while too much has no answer."""
        worker = self._worker
        if len(worker.calls) + len(worker.fetches) >= self._limits.calls_max:
            what = f"so many calls and fetches of {worker.names[worker.rank]} have no answer"
            raise LimitReached(reached(what, "calls_max", self._limits.calls_max))
