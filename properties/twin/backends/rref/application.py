"""The application above an implementation: what it was given, what it asked for, and what it has been told.

An implementation counts handles and waits; the application knows how many there should be. So a handle that the tables have
and no application was given, a fetch that ended in a table and was never told, a call that runs twice or not at all, are
seen as soon as they happen, and not only where they change a count.
"""

from __future__ import annotations

from collections import Counter

from farref.impl.core import effects as eff
from farref.impl.core.ids import (
    CallId,
    FetchId,
    ForkData,
    ForkId,
    OwnedReference,
    Reference,
    RRefId,
    WaiterId,
    WorkerId,
)


class Application:
    """The user code of all workers: it does nothing by itself, and remembers everything."""

    def __init__(self) -> None:
        self.handles: Counter[tuple[WorkerId, Reference]] = Counter()
        self.running: set[RRefId] = set()
        self.waiters: dict[tuple[WorkerId, WaiterId], RRefId] = {}
        self.fetches: dict[tuple[WorkerId, FetchId], tuple[ForkId, bool]] = {}
        self.calls: dict[tuple[WorkerId, CallId], ForkId] = {}
        self.dropped: set[RRefId] = set()
        self.complaints: list[str] = []

    def hears(self, worker: WorkerId, effect: eff.Effect) -> None:
        """Take in what an implementation wants done on a worker."""
        match effect:
            case eff.RunCall(source, call, references):
                self._end_call(source, call.call, "runs")
                self._hold(worker, references)
            case eff.FailCall(call_id):
                if (worker, call_id) in self.calls:  # a result that was refused has no call of ours to end
                    self._end_call(worker, call_id, "fails")
            case eff.CompleteCall(references=references):
                self._hold(worker, references)
            case eff.RunCreation(creation=creation):
                self._expect(creation.rref not in self.running, f"the function of {creation.rref} is started again")
                self.running.add(creation.rref)
            case eff.CompleteFetch(fetch, abandoned):
                asked = self.fetches.pop((worker, fetch), None)
                self._expect(asked is not None, f"fetch {fetch} ends, and nobody asked for it")
                self._expect(asked is None or asked[1] == abandoned, f"fetch {fetch}: abandoned is told wrongly")
            case eff.WakeWaiter(waiter):
                woken = self.waiters.pop((worker, waiter), None)
                self._expect(woken is not None, f"waiter {waiter} is woken, and does not wait")
            case eff.DropValue(rref):
                self._expect(rref not in self.dropped, f"the value of {rref} is dropped again")
                self.dropped.add(rref)
            case _:
                pass

    def wants(self, rref: RRefId) -> int:
        """Count who waits for a value on its owner."""
        return list(self.waiters.values()).count(rref)

    def asked(self, worker: WorkerId, fork: ForkId) -> list[tuple[FetchId, bool]]:
        """List the fetches of a fork that have not ended, and whether each was abandoned."""
        found = self.fetches.items()
        return [(fetch, abandoned) for (at, fetch), (wanted, abandoned) in found if at == worker and wanted == fork]

    def must_accept_first(self, data: ForkData, accepted: bool) -> None:
        """Complain if user code starts before its argument was accepted towards the parent (R18)."""
        self._expect(data.parent is None or accepted, f"user code gets {data.fork} before its parent is told (R18)")

    def _hold(self, worker: WorkerId, references: tuple[Reference, ...]) -> None:
        for reference in references:
            self.handles[worker, reference] += 1

    def _end_call(self, source: WorkerId, call: CallId, how: str) -> None:
        self._expect(self.calls.pop((source, call), None) is not None, f"call {call} {how}, and has ended already")

    def _expect(self, holds: bool, complaint: str) -> None:
        if not holds:
            self.complaints.append(complaint)


def owned(references: tuple[Reference, ...]) -> list[OwnedReference]:
    """List the references to RRefs of the worker's own."""
    return [reference for reference in references if isinstance(reference, OwnedReference)]
