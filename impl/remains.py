"""What a worker could not release, in words: kinds and numbers, by the workers that it is about, and whom it waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.observe import WorkerTables
from farref.impl.worker.leaving import DRAINED
from farref.impl.worker.worker import Worker

TOLD_MAX: Final = 5

Names = Mapping[WorkerId, str]


def told(worker: Worker, left: WorkerTables) -> str:
    """Say what is left, and who was not ready to leave; then give the tables, which name each RRef and fork (R32)."""
    return f"{'; '.join([listed(left, worker.names), *_late(worker)])}. In full: {left}"


def listed(left: WorkerTables, names: Names) -> str:
    """Count what is left by its kind, and by the worker that it is about."""
    forks = (f"a fork of {names[holder]} counted" for entry in left.entries for _, holder in entry.forks)
    kinds = [
        *("an entry without forks" for entry in left.entries if not entry.forks),
        *forks,
        *(f"a reference to a value of {names[record.owner]}" for record in left.users),
        *(f"{one.message} to {names[one.peer]} without an answer" for one in left.unanswered),
        *(f"a call of {names[call.source]} that waits for its arguments" for call in left.parked_calls),
        *("an autograd context" for _ in left.contexts),
        *("a backward pass" for _ in left.passes),
    ]
    return first(f"{what} ({times} times)" if times > 1 else what for what, times in Counter(kinds).items())


def first(words: Iterable[str]) -> str:
    """Name the first few."""
    every = list(words)
    return ", ".join(every[:TOLD_MAX]) + (" and others" if len(every) > TOLD_MAX else "")


def _late(worker: Worker) -> list[str]:
    others = [peer for peer in worker.connections if peer not in worker.core.dead]
    late = [worker.names[peer] for peer in others if worker.reached.get(peer, 0) < DRAINED]
    return [f"not ready to leave in time: {first(late)}"] if late else []
