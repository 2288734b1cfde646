"""How much a worker does for each peer at once, and when it takes on no more (`spec/limits.md`).

What counts is all that has arrived from a peer and has not ended: calls and creations that run, or wait to, and fetches that
wait for a value or for room in the queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import AnyMessage, Call, FetchCall, ForwardCall, RemoteCall
from farref.impl.core.parking import weight
from farref.impl.errors import LimitReached
from farref.impl.limits import reached

if TYPE_CHECKING:
    from farref.impl.core.effects import RunCall, RunCreation
    from farref.impl.worker.worker import Worker

ASKING: Final = (Call, RemoteCall, FetchCall, ForwardCall)
"""What asks for something, or may: what comes with a context may be an answer as well."""


class Serving:
    """What one worker does for others, and what it has asked of them."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._limits = limits = worker.settings.limits
        self._loads = worker.core.here.loads
        worker.core.here.references_max = limits.references_max
        worker.core.channel.window = limits.control_max

    def begin(self, run: RunCall | RunCreation) -> int:
        """Begin a function for a peer, and say how many bytes its call takes."""
        size = weight(run)
        self._loads[run.source].add(size)
        return size

    def objection(self, source: WorkerId, message: AnyMessage) -> str | None:
        """Say why a call, a creation or a fetch is too much, if it is. Not under the lock: a count may just change."""
        limits, load = self._limits, self._loads[source]
        if load.asked < limits.calls_max and load.bytes < limits.received_bytes_max:
            return None
        if type(message) is ForwardCall and type(message.message) not in ASKING:
            return None
        me = self._worker.names[self._worker.rank]
        if load.asked >= limits.calls_max:
            return reached(f"{me} does as much for one worker as it may", "calls_max", limits.calls_max)
        what = f"{me} keeps as much for the calls of one worker as it may"
        return reached(what, "received_bytes_max", limits.received_bytes_max)

    def too_much(self) -> LimitReached:
        """Say why this worker asks for no more: too much of it has no answer."""
        what = f"so many calls and fetches of {self._worker.names[self._worker.rank]} have no answer"
        return LimitReached(reached(what, "calls_max", self._limits.calls_max))
