"""The adapter of our implementation's core on a simulated network, all in one process (`network.py`)."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar, Final

import msgspec

from farref.impl.core.effects import Value
from farref.impl.core.ids import OwnedReference, Reference, WorkerId
from farref.impl.core.observe import observe
from farref.properties.conformance.adapters.reasons import REASONS
from farref.properties.conformance.adapters.simulated.held import HeldWorld, StepVerbs
from farref.properties.conformance.adapters.simulated.network import UNREADABLE, FreeNetwork
from farref.properties.conformance.kit.backend import FUNCTIONS

CANNOT: Final = {"pass_on", "nest", "misuse", "busy"}
VERBS: Final = ("create", "share", "drop", "fetch", "call", "probe")
COUNTS: Final = ("owned", "forks", "pending", "children")
ALSO: Final = (
    "concurrent",
    "local",
    "timeout",
    "confirmed",
    "argument.unwritable",
    "argument.unreadable",
    "lockstep",
)


class Adapter(StepVerbs):
    """Three cores, and a network that delivers as it likes, or, where the kit asks for it, as the kit says."""

    name = "simulated"
    version = version("farref")
    reasons: ClassVar[Mapping[str, str]] = {name: why for name, why in REASONS.items() if name != "lockstep"}
    capabilities = frozenset(
        [*VERBS, *ALSO, "several", *(f"function.{one}" for one in FUNCTIONS if one not in CANNOT)]
        + [f"probe.{one}" for one in COUNTS]
        + [f"fault.{one}" for one in ("kill", "lose", "delay", "duplicate")]
    )

    def __init__(self) -> None:
        self._network = FreeNetwork(("nobody",), 0, self._run)  # until somebody starts
        self._network.closed = True
        self._names: dict[str, WorkerId] = {}

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Begin with new cores."""
        if options.get("lockstep"):
            self.held = HeldWorld(workers)
            return
        self._names = {name: WorkerId(rank) for rank, name in enumerate(workers)}
        self._timeout = float(options.get("timeout", 60.0))
        self._handles: dict[tuple[WorkerId, str], Reference] = {}
        self._counts: Counter[tuple[WorkerId, str]] = Counter()
        self._counting = threading.Lock()
        self._network = FreeNetwork(workers, int(options.get("seed", 0)), self._run)

    def stop(self) -> Sequence[str]:
        """End the network; there is nothing else."""
        self._network.closed = True
        return []

    # -- references ----------------------------------------------------------------------------------------------------

    def create(
        self, worker: str, name: str, owner: str, function: str | None, args: Sequence[Any], timeout: float | None
    ) -> None:
        """Make an RRef on an owner, or of a value."""
        here, network = self._alive(worker), self._network
        with network.step():
            core = network.cores[here]
            if function is None:
                self._keep(here, name, core.create_local(Value(args[0])))
            elif owner == worker:
                references, body = self._written(here, args)
                made = network.create_here(here, function, msgspec.json.decode(body), tuple(references))
                self._keep(here, name, made)
            else:
                there = self._alive(owner)
                references, body = self._written(here, args)
                forks = tuple(core.share(reference, there) for reference in references)
                created, effects = core.create_remote(there, function, forks, body)
                self._keep(here, name, created)
                network.perform(here, effects)
                network.after(timeout or self._timeout, lambda: core.user.time_out_creation(created.fork))

    def share(self, worker: str, name: str, to: str) -> None:
        """Pass a handle to another worker, which keeps it."""
        self._call(self._alive(worker), to, "keep", [name, {"rref": name}], None)

    def drop(self, worker: str, name: str) -> None:
        """Let go of a handle."""
        here = self._alive(worker)
        with self._network.step():
            self._network.let_go(here, self._handle(here, name))
            del self._handles[here, name]

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Fetch the value of a handle."""
        here = self._alive(worker)
        return self._value(here, self._handle(here, name), timeout)

    def call(self, worker: str, to: str, function: str, args: Sequence[Any], timeout: float | None) -> Any:
        """Call a function on another worker."""
        return self._call(self._alive(worker), to, function, args, timeout)

    def probe(self, worker: str, name: str | None) -> Mapping[str, Any]:
        """Look at the tables, or at a handle."""
        here = self._alive(worker)
        with self._network.step():
            core = self._network.cores[here]
            if name is not None:
                return {"confirmed": core.is_confirmed(self._handle(here, name))}
            tables = observe(core)
        return {
            "owned": len(tables.entries),
            "forks": sum(len(entry.forks) for entry in tables.entries),
            "pending": sum(not user.confirmed for user in tables.users),
            "children": sum(len(user.children) for user in tables.users),
        }

    def fault(self, kind: str, worker: str, details: Mapping[str, Any]) -> None:
        """Kill a worker, or have messages lost, late or twice."""
        here, network = self._names[worker], self._network
        with network.step():
            if kind != "kill":
                what = (kind, float(details.get("seconds", 0)))
                network.faults[here, details["message"]] = [what] * int(details.get("times", 1))
                return
            network.kill(here)

    # -- beneath -------------------------------------------------------------------------------------------------------

    def _alive(self, worker: str) -> WorkerId:
        if worker not in self._names:
            raise LookupError(f"there is no worker {worker}")
        if self._names[worker] not in self._network.cores:
            raise ConnectionError(f"worker {worker} was killed")
        return self._names[worker]

    def _keep(self, here: WorkerId, name: str, reference: Reference) -> None:
        """Put a handle under a name; whatever was there is let go of, as when a variable is assigned again."""
        before = self._handles.get((here, name))
        self._handles[here, name] = reference
        if before is not None:
            self._network.let_go(here, before)

    def _handle(self, here: WorkerId, name: str) -> Reference:
        if (here, name) not in self._handles:
            raise LookupError(f"no handle is called {name} here")
        return self._handles[here, name]

    def _written(self, here: WorkerId, args: Iterable[Any]) -> tuple[list[Reference], bytes]:
        """Write arguments as JSON, with numbers for the references among them."""
        references: list[Reference] = []
        written: list[Any] = []
        for one in args:
            match one:
                case {"unwritable": True}:
                    raise TypeError("a value cannot be written")
                case {"rref": name}:
                    written.append({"rref": len(references)})
                    references.append(self._handle(here, name))
                case _:
                    written.append(one)
        return references, UNREADABLE if {"unreadable": True} in written else msgspec.json.encode(written)

    def _call(self, here: WorkerId, to: str, function: str, args: Sequence[Any], timeout: float | None) -> Any:
        there, network = self._alive(to), self._network
        with network.step():
            core = network.cores[here]
            references, body = self._written(here, args)
            forks = tuple(core.share(reference, there) for reference in references)
            call, effects = core.call(there, function, forks, body)
            network.perform(here, effects)
            answer = network.want("call", here, call, there)
        return answer.result(timeout or self._timeout)

    def _value(self, here: WorkerId, reference: Reference, timeout: float | None) -> Any:
        network = self._network
        with network.step():
            if isinstance(reference, OwnedReference):
                value = network.want("value", here, network.await_value(here, reference))
            else:
                fetch = network.fetch(here, reference)
                value = network.want("fetch", here, fetch)
        try:
            return value.result(timeout or self._timeout)
        except TimeoutError:
            with network.step():
                if not isinstance(reference, OwnedReference) and not value.done():
                    network.abandon_fetch(here, reference, fetch)
            raise

    def _run(self, here: WorkerId, function: str, args: list[Any], references: tuple[Reference, ...]) -> Any:
        given: list[Any] = [references[one["rref"]] if isinstance(one, dict) and "rref" in one else one for one in args]
        match function, given:
            case "echo", [value]:
                return value
            case "slow", [seconds, value]:
                time.sleep(seconds)
                return value
            case "fail", [message]:
                raise ValueError(message)
            case "value_of", [reference]:
                return self._value(here, reference, None)
            case "later", [reference, seconds]:
                time.sleep(seconds)
                return self._value(here, reference, None)
            case "hold", [_, seconds]:
                time.sleep(seconds)
                return True
            case "heirloom", []:
                return next(name for name, number in self._names.items() if number == here)
            case "count", [key]:
                return self._count(here, key)
            case "witness", [key, *others]:
                self._count(here, key)
                return [self._value(here, reference, None) for reference in others]
            case "unwritable", []:
                return self
            case "keep", [name, reference]:
                with self._network.step():
                    self._network.cores[here].calls.hold(reference)  # the function that was given it lets go of its own
                    self._keep(here, name, reference)
                return None
            case _:
                raise PermissionError(f"there is no function {function}")

    def _count(self, here: WorkerId, key: Any) -> int:
        with self._counting:
            self._counts[here, repr(key)] += 1
            return self._counts[here, repr(key)]
