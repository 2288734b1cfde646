"""The verbs as a check says them: each with a deadline, each written down.

What is written down is the story of the check: it is told, drawn and turned into a script when a clause is broken. A check
begins an operation with `begin(…)` where it wants to go on meanwhile, and otherwise calls the verb itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from farref.properties.conformance.conversation.session import (
    AdapterError,
    Hang,
    OperationFailed,
    Request,
    Session,
)
from farref.properties.conformance.kit.document import Operation
from farref.properties.conformance.kit.programs import Step
from farref.properties.conformance.kit.route import Route
from farref.properties.conformance.kit.telling import sentence, shortened

DEADLINE: Final = 10.0
"""How long an operation may take, unless a check says otherwise: far longer than any honest backend needs."""
SCHEDULES: Final = 100
"""How many schedules a backend is driven through, unless somebody asks for more."""
BEGUN: Final = 0.3
"""How long a check waits until what it has begun is under way."""


@dataclass
class Entry:
    """An operation as it is written down, while it goes on."""

    verb: str
    request: dict[str, Any]
    begun: float
    ended: float | None = None
    outcome: str = "still going on"
    trouble: bool = False
    failure: OperationFailed | None = None
    wanted: dict[str, Any] | None = None
    """What should have come of it, if it did not and a check can say so."""
    text: str | None = None
    """The sentence that tells it, if there is a better one than its verb gives."""
    between: tuple[str, str | None] | None = None
    """The worker that does it, and the one that it is done to, if the request does not say so."""


@dataclass(frozen=True)
class Pending:
    """An operation that has begun."""

    world: Verbs
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
class Verbs:
    """Some workers of a backend, and what has been done with them so far."""

    session: Session
    workers: tuple[str, ...]
    seed: int
    entries: list[Entry] = field(default_factory=list)
    held: dict[tuple[str, str], None] = field(default_factory=dict)
    """The handles and contexts that workers have, in the order in which they came by them."""
    origin: float = field(default_factory=time.monotonic)
    schedules: int = SCHEDULES
    """How many schedules a backend is driven through that can be driven step by step."""
    deadline: float = DEADLINE
    """How long an operation may take, unless a check says otherwise."""
    route: Route | None = None
    """The random steps of the check; if there are none yet it draws them."""

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
        self.held[worker, name] = None

    def share(self, worker: str, name: str, to: str) -> None:
        """Let a worker share a handle with another."""
        self.begin_share(worker, name, to).wait()
        self.held[to, name] = None

    def begin_share(self, worker: str, name: str, to: str) -> Pending:
        """Let a worker share a handle with another, and go on."""
        return self.begin("share", worker=worker, name=name, to=to)

    def drop(self, worker: str, *names: str) -> None:
        """Let a worker let go of handles or contexts."""
        for name in names:
            self.held.pop((worker, name), None)
            self.begin("drop", worker=worker, name=name).wait()

    def fetch(self, worker: str, name: str) -> Any:
        """Let a worker fetch a value."""
        return self.begin_fetch(worker, name).wait()

    def call(self, worker: str, to: str, function: str, *args: Any) -> Any:
        """Let a worker call a function on another."""
        return self.begin_call(worker, to, function, *args).wait()

    def begin_fetch(self, worker: str, name: str, *, timeout: float | None = None) -> Pending:
        """Let a worker fetch a value, and go on."""
        return self.begin("fetch", worker=worker, name=name, timeout=timeout)

    def begin_call(self, worker: str, to: str, function: str, *args: Any, timeout: float | None = None) -> Pending:
        """Let a worker call a function on another, and go on."""
        return self.begin("call", worker=worker, to=to, function=function, args=list(args), timeout=timeout)

    def backward(
        self,
        worker: str,
        context: str,
        steps: Sequence[Step] = (),
        roots: Sequence[str] = (),
        **how: Any,
    ) -> None:
        """Let a worker take the steps of a program, and the backward pass from its roots."""
        self.begin_backward(worker, context, steps, roots, **how).wait()

    def begin_backward(
        self,
        worker: str,
        context: str,
        steps: Sequence[Step] = (),
        roots: Sequence[str] = (),
        *,
        mode: str = "fast",
        retain: bool = False,
    ) -> Pending:
        """Let a worker take the steps of a program and a pass, and go on."""
        what = {"steps": list(steps), "roots": list(roots), "mode": mode, "retain": retain, "timeout": None}
        self.held.setdefault((worker, context))
        return self.begin("backward", worker=worker, context=context, **what)

    def gradients(self, worker: str, context: str) -> dict[str, float]:
        """Give the gradients that a worker has in a context."""
        found: dict[str, float] = self.begin("gradients", worker=worker, context=context).wait()
        if not isinstance(found, dict):
            raise AdapterError(
                f"`gradients` must give an object of numbers by the names of leaves, and gives {found!r}"
            )
        return found

    def probe(self, worker: str, name: str | None = None) -> dict[str, Any]:
        """Look at a worker's tables, or at a handle. Garbage is collected first where only that lets go."""
        if name is None:
            self.collect()
        found: dict[str, Any] = self.begin("probe", worker=worker, name=name).wait()
        wanted = _wrong_counts(found, self.session.identity.capabilities) if name is None else _unsure(found)
        if wanted:
            raise AdapterError(f"`probe` must give {wanted}, and gives {found!r}")
        return found

    def collect(self) -> None:
        """Have garbage collected, where only that lets go of what was dropped."""
        if "gc" in self.session.identity.capabilities:
            self.begin("collect").wait()

    def fault(self, kind: str, worker: str, **details: Any) -> None:
        """Make something go wrong."""
        self.begin("fault", kind=kind, worker=worker, details=details).wait()

    def kill(self, worker: str) -> None:
        """Kill a worker, and let others have the time to see it."""
        self.fault("kill", worker)
        self.pause(BEGUN)

    def stop(self, deadline: float = DEADLINE) -> list[str]:
        """Stop the backend; say what it could not release."""
        self.held.clear()
        left: list[str] = self.begin("stop").wait(deadline)
        return left

    def start(self, deadline: float = DEADLINE, **options: Any) -> None:
        """Start the same workers again, after a stop."""
        self.begin("start", workers=list(self.workers), options=options).wait(deadline)

    def pause(self, seconds: float) -> None:
        """Let some time pass."""
        time.sleep(seconds)

    def tidy(self) -> None:
        """Let go of what the workers still hold, if they can."""
        if "drop" in self.session.identity.capabilities:
            for worker, name in list(self.held):
                self.drop(worker, name)

    # -- how it is done ------------------------------------------------------------------------------------------------

    def begin(self, verb: str, **request: Any) -> Pending:
        """Begin an operation and write it down."""
        entry = Entry(verb, request, self._now())
        self.entries.append(entry)
        return Pending(self, entry, self.session.ask(verb, request))

    def note(self, verb: str, **request: Any) -> None:
        """Write down an operation that was carried out already."""
        self.entries.append(Entry(verb, request, self._now(), self._now(), outcome=""))

    def finish(self, pending: Pending, deadline: float) -> Any:
        """Wait for an operation and write down what came of it."""
        entry = pending.entry
        try:
            result = pending.request.wait(deadline)
        except OperationFailed as failure:
            entry.ended, entry.outcome, entry.failure = self._now(), f"fails: {failure.in_full}", failure
            raise
        except Hang as hang:
            entry.outcome, entry.trouble, entry.wanted = f"hangs: {hang}", True, {"ends": True}
            raise
        entry.ended, entry.outcome = self._now(), "" if result is None else f"gives {result!r}"
        return result

    def blame(self, broken: Exception) -> tuple[Operation, ...]:
        """Tell what was done, and where the trouble was, if it was that an operation failed which must not."""
        for entry in self.entries:
            if entry.failure is broken:
                entry.trouble, entry.wanted = True, {"succeeds": True}
        return self.story()

    def story(self) -> tuple[Operation, ...]:
        """Tell what was done, in the order in which it was begun."""
        return tuple(_told(number, entry) for number, entry in enumerate(self.entries, start=1))

    def _now(self) -> float:
        return round(time.monotonic() - self.origin, 3)


def _wrong_counts(found: Any, capabilities: frozenset[str]) -> str | None:
    """Say what counts must be, if these are not: a count that is not understood would never be found wrong."""
    declared = sorted(one.removeprefix("probe.") for one in capabilities if one.startswith("probe."))
    is_right = isinstance(found, dict) and set(declared) <= set(found)
    if is_right and all(type(count) is int for count in found.values()):
        return None
    return f"an object of whole numbers{' with ' if declared else ''}{', '.join(declared)}"


def _unsure(found: Any) -> str | None:
    is_right = isinstance(found, dict) and isinstance(found.get("confirmed"), bool)
    return None if is_right else "whether the handle is `confirmed`, true or false"


def _told(number: int, entry: Entry) -> Operation:
    request = entry.request
    worker, to = entry.between or (request.get("worker", ""), request.get("to") or request.get("owner"))
    return Operation(
        number=number,
        verb=entry.verb,
        worker=worker,
        to=to,
        text=shortened(entry.text or sentence(entry.verb, request)),
        begun=entry.begun,
        ended=entry.ended,
        outcome=shortened(entry.outcome),
        trouble=entry.trouble,
        request=request,
        wanted=entry.wanted,
    )
