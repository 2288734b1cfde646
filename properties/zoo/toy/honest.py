"""The honest backend: all that the kit can ask of workers which are threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

from farref.properties.conformance.kit.backend import CAPABILITIES
from farref.properties.zoo.toy.functions import Functions
from farref.properties.zoo.toy.gradients import Gradients
from farref.properties.zoo.toy.references import Entry, Fault, Handle, References

CANNOT: Final = {"fault.pause", "lockstep", "traced"}
DEFAULT_S: Final = 60.0
STOP_S: Final = 5.0


class Honest:
    """A backend in one process."""

    name = "honest"
    version = "1"
    capabilities = frozenset(CAPABILITIES) - CANNOT
    Tables: type[References] = References
    """What counts references. A wrong backend has a class of its own here, or for passes."""
    Passes: type[Gradients] = Gradients

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Begin anew."""
        self.timeout = float(options.get("timeout", DEFAULT_S))
        self.handles: dict[str, dict[str, Handle]] = {name: {} for name in workers}
        self.running: list[Future[Any]] = []
        self.table = self.Tables()
        self.autograd = self.Passes(self.table, self.timeout)
        self.functions = Functions(
            lambda handle: handle.entry.value.result(self.timeout),
            lambda handle, to: self.table.let_go(self.passed_on(handle, to)),
            self.call,
        )

    def stop(self) -> list[str]:
        """Wait for what is under way, then let go of everything."""
        for future in list(self.running):
            with suppress(Exception):
                future.result(STOP_S)
        for handles in self.handles.values():
            for name in list(handles):
                self.table.let_go(handles.pop(name))
        return [f"{entry.owner} keeps a value" for entry in self.table.entries if entry.owner not in self.table.dead]

    # -- references ----------------------------------------------------------------------------------------------------

    def create(
        self, worker: str, name: str, owner: str, function: str | None, args: Sequence[Any], timeout: float | None
    ) -> None:
        """Make an entry, count its creator, and let the function run."""
        self.reach(owner)
        given = [] if function is None else self.given(worker, owner, args)
        handle = Handle(self.table.make(owner), worker)
        self.hold(worker, name, handle)
        if function is None:
            handle.entry.value.set_result(args[0])
            self.table.count(handle)
            return
        running = Handle(handle.entry, owner)
        self.table.count(running)
        in_thread(lambda: self._create(handle, running, function, given))
        if timeout is not None:
            self.table.later(timeout, lambda: self.time_out(handle))

    def _create(self, handle: Handle, running: Handle, function: str, given: list[Any]) -> None:
        self.table.post(handle.worker, "RemoteCall", lambda: self.register(handle))
        self.run(running.worker, function, given, handle.entry.value)
        self.finish(handle)
        self.table.uncount(running)

    def register(self, handle: Handle) -> None:
        """Count the creator, on receipt."""
        self.table.count(handle)

    def finish(self, handle: Handle) -> None:
        """Do what the function's end changes for its creator: nothing."""

    def time_out(self, handle: Handle) -> None:
        """Refuse a handle whose creation is not known in time."""
        handle.timed_out = not handle.is_counted

    def share(self, worker: str, name: str, to: str) -> None:
        """Give another worker a handle of its own."""
        source = self.handle(worker, name)
        self.reach(to)
        self.hold(to, name, self.passed_on(source, to))

    def passed_on(self, source: Handle, to: str) -> Handle:
        """Make a reference for another worker, and wait until it is counted."""
        self.reach(source.entry.owner)
        fresh = Handle(source.entry, to)
        self.have_counted(fresh, source)
        return fresh

    def have_counted(self, fresh: Handle, source: Handle) -> None:
        """Wait until a reference is counted that comes from another one."""
        owner, to = source.entry.owner, fresh.worker
        if owner in (source.worker, to):
            self.table.count(fresh)
            return
        self.table.post(to, "ForkRequest", lambda: self.table.count(fresh))
        if not fresh.counted.wait(self.timeout):
            raise TimeoutError(f"{owner} does not count what {to} was given")
        self.table.post(to, "ChildAccept", lambda: None)

    def drop(self, worker: str, name: str) -> None:
        """Let go of a handle, or of a context."""
        if name in self.handles[worker]:
            self.table.let_go(self.handles[worker].pop(name))
        else:
            self.autograd.release(name)

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Wait for a value."""
        if name in self.autograd.leaves:
            return self.autograd.leaves[name].value
        entry = self.handle(worker, name).entry
        self.reach(entry.owner)
        self.table.post(worker, "FetchCall", lambda: None)
        return self.value(entry, timeout)

    def value(self, entry: Entry, timeout: float | None) -> Any:
        """Give a value once it is there."""
        return entry.value.result(self.timeout if timeout is None else timeout)

    def call(self, worker: str, to: str, function: str, args: Sequence[Any], timeout: float | None) -> Any:
        """Run a function on another worker, and wait."""
        self.reach(to)
        given, entry = self.given(worker, to, args), Entry(to)
        self.table.calls.append(entry)
        in_thread(lambda: self.run(to, function, given, entry.value))
        return self.result(entry.value, timeout)

    def result(self, result: Future[Any], timeout: float | None) -> Any:
        """Wait for the result of a call."""
        return result.result(self.timeout if timeout is None else timeout)

    def given(self, worker: str, to: str, args: Sequence[Any]) -> list[Any]:
        """Turn arguments into what a function gets: references of its own worker."""
        if {"unwritable": True} in args:
            self.withdraw(worker, to, args)
            raise TypeError("one of the arguments cannot be written")
        return [self.argument(worker, to, one) for one in args]

    def withdraw(self, worker: str, to: str, args: Sequence[Any]) -> None:
        """Withdraw what was in a message that cannot be written: nothing was counted yet."""

    def argument(self, worker: str, to: str, argument: Any) -> Any:
        """Turn one argument into what a function gets."""
        match argument:
            case {"rref": name}:
                return self.passed_on(self.handle(worker, name), to)
            case _:
                return argument

    def run(self, worker: str, function: str, given: list[Any], result: Future[Any]) -> None:
        """Run a function to its end, then let go of the references that it was given."""
        self.running.append(result)
        try:
            if {"unreadable": True} in given:
                raise ValueError("one of the arguments cannot be read")
            value, error = self.functions.find(worker, function)(*given), None
        except Exception as raised:
            value, error = None, raised
        self.settle(result, value, error)
        for one in given:
            if isinstance(one, Handle):
                self.table.let_go(one)

    def settle(self, result: Future[Any], value: Any, error: Exception | None) -> None:
        """Have a result, unless its worker has died meanwhile."""
        with self.table.lock:
            if not result.done():
                result.set_result(value) if error is None else result.set_exception(error)

    def hold(self, worker: str, name: str, handle: Handle) -> None:
        """Have a worker hold a handle, in place of one of the same name."""
        before = self.handles[worker].pop(name, None)
        self.handles[worker][name] = handle
        if before is not None:
            self.table.let_go(before)

    def handle(self, worker: str, name: str) -> Handle:
        """Find a handle that may be used."""
        if name not in self.handles[worker]:
            raise LookupError(f"{worker} holds no {name}")
        handle = self.handles[worker][name]
        if handle.timed_out:
            raise PermissionError(f"the creation of {name} took too long")
        return handle

    def reach(self, worker: str) -> None:
        """Fail unless a worker lives."""
        if worker in self.table.dead:
            raise ConnectionError(f"worker {worker} has died")

    # -- gradients, tables and faults ----------------------------------------------------------------------------------

    def backward(
        self,
        worker: str,
        context: str,
        steps: Sequence[Mapping[str, Any]],
        roots: Sequence[str],
        mode: str,
        retain: bool,
        _timeout: float | None,
    ) -> None:
        """Take steps, then go back."""
        found = self.autograd.context(context, worker)
        for step in steps:
            try:
                self.autograd.take(worker, found, step)
            except ValueError:
                if not step.get("may_fail"):
                    raise
        if roots:
            self.autograd.go_back(worker, found, roots, mode, retain)

    def gradients(self, worker: str, context: str) -> dict[str, float]:
        """Give the gradients of a worker's leaves."""
        found = self.autograd.contexts.get(context)
        if found is None or worker not in found.known:
            raise LookupError(f"{worker} knows no context {context}")
        places = self.autograd.leaves
        return {name: value for name, value in found.gradients.items() if places[name].worker == worker}

    def probe(self, worker: str, name: str | None) -> dict[str, Any]:
        """Look at a worker's tables, or at one of its handles."""
        if name is not None:
            return {"confirmed": self.is_confirmed(self.handles[worker][name])}
        contexts = list(self.autograd.contexts.values())
        with self.table.lock:
            owned = [entry for entry in self.table.entries if entry.owner == worker]
            return {
                "owned": len(owned),
                "forks": sum(len(entry.forks) for entry in owned),
                "pending": sum(not handle.is_counted for handle in self.handles[worker].values()),
                "children": 0,
                "contexts": sum(worker in context.known for context in contexts),
                "passes": sum(one.running is not None and worker in one.running.workers for one in contexts),
            }

    def is_confirmed(self, handle: Handle) -> bool:
        """Say whether the owner counts a handle."""
        return handle.is_counted

    def cut(self, worker: str, to: str) -> None:
        """Break a link. There is none here, so they are connected again at once."""

    def fault(self, kind: str, worker: str, details: Mapping[str, Any]) -> None:
        """Let a worker die, or have something happen to the next message that it sends."""
        if kind == "kill":
            self.handles[worker].clear()
            self.table.bury(worker)
            self.autograd.bury(worker)
        elif kind == "restart":
            self.table.revive(worker)
        elif kind == "cut":
            self.cut(worker, details["to"])
        else:
            fault = Fault(kind, float(details.get("seconds", 0)), int(details.get("times", 1)))
            self.table.faults[worker, details["message"]] = fault


def in_thread(act: Any) -> None:
    """Let something happen meanwhile."""
    threading.Thread(target=act, daemon=True).start()
