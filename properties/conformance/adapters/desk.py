"""What adapters in Python share whose references are plain objects: a desk of handles by name, and the kit's functions.

An adapter derives its agent from `DeskAgent` and says how a reference is made, passed on and read. Killing and pausing a worker
is done by `AgentsAdapter`: each worker is a process of its own.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from farref.properties.conformance.adapters.agent import Agent, Life

NAMES: Final = ("echo", "slow", "fail", "value_of", "hold", "later", "count", "witness", "heirloom")
VERBS: Final = ("create", "share", "drop", "fetch", "call", "probe", "probe.owned", "concurrent", "local")
FAULTS: Final = ("fault.kill", "fault.pause")
DECLARED: Final = frozenset([*VERBS, *FAULTS, "gc", "several", *(f"function.{name}" for name in NAMES)])
"""What an adapter can do whose agents sit at such desks."""

_cells: Final = weakref.WeakSet["Cell"]()


def computed(compute: Callable[[], Any]) -> Future[Any]:
    """Compute something in a thread of its own. A pool would keep what its threads did last, and so hold references."""
    result: Future[Any] = Future()

    def run() -> None:
        try:
            result.set_result(compute())
        except Exception as error:
            result.set_exception(error.with_traceback(None))

    threading.Thread(target=run, daemon=True).start()
    return result


def strike(kind: str, pid: int, details: Mapping[str, Any]) -> None:
    """Kill a process, or stop it for a while."""
    _send(pid, signal.SIGSTOP if kind == "pause" else signal.SIGKILL)
    if kind == "pause":
        timer = threading.Timer(details["seconds"], _send, [pid, signal.SIGCONT])
        timer.daemon = True
        timer.start()


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it may have been killed before
        os.kill(pid, number)


class Cell:
    """A value that this worker owns, or one to come. It is there as long as anybody refers to it."""

    def __init__(self) -> None:
        self.value: Future[Any] = Future()
        _cells.add(self)

    @property
    def get(self) -> Callable[[], Any]:
        """What waits for the value. It is no method of the cell, as the trace of an error would hold the cell then."""
        return self.value.result


HEIRLOOM: Final = Cell()
"""An object that is there before the workers, which are forks of the process that has imported this."""


class DeskAgent(Agent):
    """One worker: what it holds, by name, and what it can compute."""

    cell: ClassVar[type[Cell]] = Cell

    def sit(self, life: Life) -> None:
        """Begin a life with an empty desk."""
        self.life, self.name = life, life.name
        self.desk: dict[str, Any] = {}
        self.counts, self.lock = Counter[str](), threading.Lock()
        if not HEIRLOOM.value.done():
            HEIRLOOM.value.set_result(life.name)

    def meet(self, address: str) -> dict[str, str]:
        """Tell the others where this worker is, and wait until all have told."""
        folder = Path(self.life.directory)
        (folder / f"{self.name}.new").write_text(address)
        (folder / f"{self.name}.new").rename(folder / self.name)
        while not all((folder / name).exists() for name in self.life.workers):
            time.sleep(0.01)
        return {name: (folder / name).read_text() for name in self.life.workers}

    def value(self, reference: Any) -> Any:
        """Read a reference, wherever its value is."""
        return reference.get()

    def at(self, worker: str, verb: str, *args: Any) -> Any:
        """Let a worker, or this one, `make`, `run` or `keep` something; a ConnectionError says who has died."""
        raise NotImplementedError

    # -- verbs ---------------------------------------------------------------------------------------------------------

    def create(self, name: str, owner: str, function: str | None, args: Sequence[Any], _timeout: None) -> None:
        """Have a value made on its owner."""
        given = self.given(args)
        self.desk[name] = self.make(function, given) if owner == self.name else self.at(owner, "make", function, given)

    def share(self, name: str, to: str) -> None:
        """Pass a reference on."""
        self.at(to, "keep", name, self.held(name))

    def fetch(self, name: str, _timeout: None) -> Any:
        """Read a reference."""
        return self.value(self.held(name))

    def call(self, to: str, function: str, args: Sequence[Any], _timeout: None) -> Any:
        """Call a worker."""
        return self.at(to, "run", function, self.given(args))

    def leave(self) -> Sequence[str]:
        """Let go of everything."""
        self.desk.clear()
        return []

    # -- what others ask for -------------------------------------------------------------------------------------------

    def keep(self, name: str, reference: Any) -> None:
        """Take a reference from another."""
        self.desk[name] = reference

    def make(self, function: str | None, args: Sequence[Any]) -> Cell:
        """Have a value here, which a function computes meanwhile."""
        if function == "heirloom":
            return HEIRLOOM
        cell = self.cell()
        if function is None:
            cell.value.set_result(args[0])
        else:
            cell.value = computed(lambda: self.run(function, args))
        return cell

    def run(self, function: str, args: Sequence[Any]) -> Any:
        """Compute one of the kit's functions here."""
        match function, list(args):
            case "echo", [value]:
                return value
            case "slow", [seconds, value]:
                time.sleep(seconds)
                return value
            case "fail", [message]:
                raise ValueError(message)
            case "value_of", [reference]:
                return self.value(reference)
            case "later", [reference, seconds]:
                time.sleep(seconds)
                return self.value(reference)
            case "hold", [_, seconds]:
                time.sleep(seconds)
                return True
            case "heirloom", []:
                return self.name
            case (("count" | "witness"), [key, *references]):
                with self.lock:
                    self.counts[key] += 1
                    number = self.counts[key]
                return number if function == "count" else [self.value(one) for one in references]
            case _:
                raise NotImplementedError(f"there is no function {function}")

    def held(self, name: str) -> Any:
        """Find what is on the desk under a name."""
        if name not in self.desk:
            raise LookupError(f"{self.name} holds no {name}")
        return self.desk[name]

    def given(self, args: Sequence[Any]) -> list[Any]:
        """Put what is on the desk in the place of its names."""
        return [self.held(one["rref"]) if isinstance(one, dict) else one for one in args]

    def drop(self, name: str) -> None:
        """Let go."""
        if name not in self.desk:
            raise LookupError(f"{self.name} holds no {name}")
        del self.desk[name]

    def collect(self) -> None:
        """Find the garbage that refers to itself: references in it are let go only then."""
        gc.collect()

    def probe(self, _name: str | None) -> Mapping[str, int]:
        """Count the values that are here."""
        gc.collect()
        return {"owned": sum(one is not HEIRLOOM for one in list(_cells))}
