"""A backend as a check sees it: the verbs as sentences, each with a deadline, each written down.

What is written down is the story of the check: it is told, drawn and turned into a script when a clause is broken. A check
begins an operation with `begin(…)` where it wants to go on meanwhile, and otherwise calls the verb itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from farref.properties.conformance.document import Operation
from farref.properties.conformance.programs import Step
from farref.properties.conformance.session import Hang, OperationFailed, Request, Session
from farref.properties.conformance.telling import sentence

DEADLINE: Final = 10.0
"""How long an operation may take, unless a check says otherwise: far longer than any honest backend needs."""
PATIENCE: Final = 5.0
"""How long counts may take to come to rest."""
PAUSE: Final = 0.02


class Violation(Exception):  # noqa: N818 (it says what happened)
    """The backend has broken the clause; the message says how."""


@dataclass
class Entry:
    """An operation as it is written down, while it goes on."""

    verb: str
    request: dict[str, Any]
    begun: float
    ended: float | None = None
    outcome: str = "still going on"
    trouble: bool = False


@dataclass(frozen=True)
class Pending:
    """An operation that has begun."""

    world: World
    entry: Entry
    request: Request

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return self.request.done

    def wait(self, deadline: float = DEADLINE) -> Any:
        """Give its result; raise OperationFailed if it failed, and Hang if it takes longer than it may."""
        return self.world.finish(self, deadline)


@dataclass
class World:
    """Some workers of a backend, and what has been done with them so far."""

    session: Session
    workers: tuple[str, ...]
    seed: int
    entries: list[Entry] = field(default_factory=list)
    origin: float = field(default_factory=time.monotonic)

    # -- verbs ---------------------------------------------------------------------------------------------------------

    def create(
        self,
        worker: str,
        name: str,
        owner: str,
        function: str | None = "echo",
        args: Sequence[Any] = (1,),
        *,
        timeout: float | None = None,
    ) -> None:
        """Let a worker make an RRef on an owner."""
        what = {"owner": owner, "function": function, "args": list(args), "timeout": timeout}
        self.begin("create", worker=worker, name=name, **what).wait()

    def share(self, worker: str, name: str, to: str) -> None:
        """Let a worker share a handle with another."""
        self.begin("share", worker=worker, name=name, to=to).wait()

    def drop(self, worker: str, *names: str) -> None:
        """Let a worker let go of handles or contexts."""
        for name in names:
            self.begin("drop", worker=worker, name=name).wait()

    def fetch(self, worker: str, name: str, *, timeout: float | None = None, deadline: float = DEADLINE) -> Any:
        """Let a worker fetch a value."""
        return self.begin("fetch", worker=worker, name=name, timeout=timeout).wait(deadline)

    def call(
        self,
        worker: str,
        to: str,
        function: str,
        *args: Any,
        timeout: float | None = None,
        deadline: float = DEADLINE,
    ) -> Any:
        """Let a worker call a function on another."""
        return self.begin_call(worker, to, function, *args, timeout=timeout).wait(deadline)

    def begin_call(self, worker: str, to: str, function: str, *args: Any, timeout: float | None = None) -> Pending:
        """Let a worker call a function on another, and go on."""
        return self.begin("call", worker=worker, to=to, function=function, args=list(args), timeout=timeout)

    def backward(
        self,
        worker: str,
        context: str,
        steps: Sequence[Step] = (),
        roots: Sequence[str] = (),
        *,
        mode: str = "fast",
        retain: bool = False,
        timeout: float | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        """Let a worker take the steps of a program, and the backward pass from its roots."""
        what = {"steps": list(steps), "roots": list(roots), "mode": mode, "retain": retain, "timeout": timeout}
        self.begin("backward", worker=worker, context=context, **what).wait(deadline)

    def gradients(self, worker: str, context: str) -> dict[str, float]:
        """Give the gradients that a worker has in a context."""
        found: dict[str, float] = self.begin("gradients", worker=worker, context=context).wait()
        return found

    def probe(self, worker: str, name: str | None = None) -> dict[str, Any]:
        """Look at a worker's tables, or at a handle."""
        found: dict[str, Any] = self.begin("probe", worker=worker, name=name).wait()
        return found

    def fault(self, kind: str, worker: str, **details: Any) -> None:
        """Make something go wrong."""
        self.begin("fault", kind=kind, worker=worker, details=details).wait()

    def stop(self, deadline: float = DEADLINE) -> list[str]:
        """Stop the backend; say what it could not release."""
        left: list[str] = self.begin("stop").wait(deadline)
        return left

    def start(self, deadline: float = DEADLINE, **options: Any) -> None:
        """Start the same workers again, after a stop."""
        self.begin("start", workers=list(self.workers), options=options).wait(deadline)

    # -- what must be so -----------------------------------------------------------------------------------------------

    def expect(self, is_so: bool, otherwise: str) -> None:
        """Break the clause unless something is so; the trouble is what was done last."""
        if not is_so:
            if self.entries:
                self.entries[-1].trouble = True
            raise Violation(otherwise)

    def settles(self, worker: str, within: float = PATIENCE, **counts: int) -> None:
        """Break the clause unless a worker's counts come to rest at these. Those that a backend does not have are left out."""
        self._come_to(worker, counts, within)

    def empties(self, within: float = PATIENCE, *, except_for: Sequence[str] = ()) -> None:
        """Break the clause unless all counts of all workers come to nothing."""
        for worker in self.workers:
            if worker not in except_for:
                self._come_to(worker, None, within)

    def _come_to(self, worker: str, counts: Mapping[str, int] | None, within: float) -> None:
        """Look until the counts are as wanted, or time is over. Looking again is no new operation."""
        end, before = time.monotonic() + within, len(self.entries)
        while said := _differing(self.probe(worker), counts):
            self.expect(time.monotonic() < end, f"on {worker} {said}, {within:g} s later")
            del self.entries[before:]
            time.sleep(PAUSE)

    def refuses(self, kinds: Sequence[str], pending: Pending, deadline: float = DEADLINE) -> OperationFailed:
        """Break the clause unless an operation fails, and in one of these ways."""
        try:
            got = pending.wait(deadline)
        except OperationFailed as failure:
            self.expect(failure.kind in kinds, f"it failed as {failure.kind} ({failure}), not as {' or '.join(kinds)}")
            return failure
        self.expect(False, f"it was carried out and gave {got!r}, where it must fail as {' or '.join(kinds)}")
        raise AssertionError

    # -- how it is done ------------------------------------------------------------------------------------------------

    def begin(self, verb: str, **request: Any) -> Pending:
        """Begin an operation and write it down."""
        entry = Entry(verb, request, self._now())
        self.entries.append(entry)
        return Pending(self, entry, self.session.ask(verb, request))

    def finish(self, pending: Pending, deadline: float) -> Any:
        """Wait for an operation and write down what came of it."""
        entry = pending.entry
        try:
            result = pending.request.wait(deadline)
        except OperationFailed as failure:
            entry.ended, entry.outcome = self._now(), f"fails: {failure}"
            raise
        except Hang as hang:
            entry.outcome, entry.trouble = f"hangs: {hang}", True
            raise
        entry.ended, entry.outcome = self._now(), "" if result is None else f"gives {result!r}"
        return result

    def story(self) -> tuple[Operation, ...]:
        """Tell what was done, in the order in which it was begun."""
        return tuple(_told(number, entry) for number, entry in enumerate(self.entries, start=1))

    def _now(self) -> float:
        return round(time.monotonic() - self.origin, 3)


def _told(number: int, entry: Entry) -> Operation:
    request = entry.request
    to = request.get("to") or request.get("owner")
    return Operation(
        number=number,
        verb=entry.verb,
        worker=request.get("worker", ""),
        to=to,
        text=sentence(entry.verb, request),
        begun=entry.begun,
        ended=entry.ended,
        outcome=entry.outcome,
        trouble=entry.trouble,
        request=request,
    )


def _differing(found: Mapping[str, Any], wanted: Mapping[str, int] | None) -> str:
    """Say where counts differ from those wanted, or from zero."""
    counts = {name: count for name, count in found.items() if isinstance(count, int)}
    expected = dict.fromkeys(counts, 0) if wanted is None else wanted
    wrong = [name for name in expected if name in counts and counts[name] != expected[name]]
    return ", ".join(f"{name} is {counts[name]}, not {expected[name]}" for name in wrong)
