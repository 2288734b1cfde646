"""What adapters share whose backend is several processes: each worker is a process of its own, with an agent in it.

The processes are forks of a server that has imported the backend once, and has no threads (`forkserver`): a world starts in
the time that the backend needs, not in that of an import. Whatever happens to a worker, the adapter does not wait for it:
what was asked of a worker that dies fails with ConnectionError, and `stop` kills what does not leave by itself.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final

import multiprocess  # type: ignore[import-untyped]

from farref.properties.conformance.adapters.agent import Life, serve
from farref.properties.conformance.kit.backend import KINDS
from farref.properties.processes import Child, ChildEnded

START_S: Final = 40.0
LEAVE_S: Final = 8.0
COLLECT_S: Final = 2.0
"""How long a worker is waited for to collect its garbage: one that is paused does not."""
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""A process that forks must have no threads; and no worker here computes anything that would need more than one."""


class WorkerProcess:
    """One worker's process, and what has been asked of it."""

    def __init__(self, name: str, agent: str, context: Any) -> None:
        self.name, self.child = name, Child(context, serve, agent)
        self._lock, self._asked, self._dead = threading.Lock(), 0, False
        self._open: dict[int, Future[Any]] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def lives(self) -> bool:
        """Whether its process can still answer."""
        return not self._dead

    def ask(self, verb: str, *args: Any) -> Future[Any]:
        """Let the agent carry out a verb."""
        future: Future[Any] = Future()
        with self._lock:
            number, self._asked = self._asked, self._asked + 1
            self._open[number] = future
            try:
                if not self._dead:
                    self.child.tell((number, verb, args))
            except ChildEnded:
                self._dead = True
            if self._dead:
                self._give_up()
        return future

    def end(self) -> None:
        """Kill its process, and wait until it is gone."""
        self.child.end()
        self._bury()

    def _listen(self) -> None:
        with suppress(ChildEnded):
            while True:
                number, result, failure = self.child.hear()
                with self._lock:
                    future = self._open.pop(number)
                if failure is None:
                    future.set_result(result)
                else:
                    future.set_exception(_rebuilt(**failure))
        self._bury()

    def _bury(self) -> None:
        with self._lock:
            self._dead = True
            self._give_up()

    def _give_up(self) -> None:
        for future in self._open.values():
            future.set_exception(ConnectionError(f"worker {self.name} has died"))
        self._open.clear()


def _rebuilt(kind: str, type: str, message: str, trace: str) -> Exception:  # noqa: A002 (as `describe` calls it)
    """Make an exception of a description: of the same kind, called the same, and raised at the same place."""
    error = _named(type, KINDS[kind])(message)
    error.trace = trace  # type: ignore[attr-defined]
    return error


def _named(name: str, base: type[Exception]) -> type[Exception]:
    return type(name, (base,), {})


class AgentsAdapter:
    """The verbs, carried out by one agent per worker. A backend says what its agents are, and what they can do."""

    name: str
    version: str
    capabilities: frozenset[str]
    agent: ClassVar[str]
    """Where the class of its agents is, `module:class`. Only workers import it, and the server that they are forks of."""
    preloaded: ClassVar[str | None] = None
    """What that server imports in its place, if the agents' module must not be imported before a fork."""

    def __init__(self) -> None:
        os.environ.update(ONE_THREAD)
        self._context = multiprocess.get_context("forkserver")
        self._context.set_forkserver_preload([self.preloaded or self.agent.partition(":")[0]])
        self._workers: dict[str, WorkerProcess] = {}
        self._idle: dict[str, WorkerProcess] = {}
        self._again = False
        self._directories: list[str] = []
        self._contexts: dict[str, Any] = {}
        """What the backend calls each context, also those that are released: whoever asks for them is for it to answer."""
        self._released: set[str] = set()
        self._opening = threading.Lock()
        self._lives: dict[str, Life] = {}
        self._leaves: dict[str, str] = {}

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Let workers join a world: new ones, or those that have left the last one and may join again."""
        self._again = bool(options.get("again"))
        if list(self._idle) != list(workers):
            self._end()
            self._idle = {name: WorkerProcess(name, self.agent, self._context) for name in workers}
        self._workers, self._idle = self._idle, {}
        self._contexts, self._released, self._leaves = {}, set(), {}
        self._directories.append(tempfile.mkdtemp(prefix="world-"))
        try:
            self._lives = {
                name: Life(tuple(workers), name, self._directories[-1], self.options(name, options)) for name in workers
            }
            joining = [self._workers[name].ask("join", life) for name, life in self._lives.items()]
            _all(joining, START_S, "the workers did not find each other")
        except BaseException:
            self._end()
            raise

    def options(self, worker: str, options: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 (for others)
        """Give the options of one worker."""
        return options

    def stop(self) -> Sequence[str]:
        """Let all workers leave, and kill those that do not in time; say what could not be released."""
        living = {name: worker for name, worker in self._workers.items() if worker.lives}
        kept = self._again and len(living) == len(self._workers) > 0
        try:
            leaving = [worker.ask("leave") for worker in living.values()]
            _all(leaving, LEAVE_S, f"not all of {', '.join(living)} left the world within {LEAVE_S:g} s")
            if kept:
                self._idle, self._workers = self._workers, {}
            return [f"{name}: {one}" for name, left in zip(living, leaving, strict=True) for one in left.result()]
        finally:
            if not self._idle:
                self._end()

    def _end(self) -> None:
        """End every process, and remove what they left on disk."""
        for worker in [*self._workers.values(), *self._idle.values()]:
            worker.end()
        self._workers, self._idle = {}, {}
        while self._directories:
            shutil.rmtree(self._directories.pop(), ignore_errors=True)

    # -- the verbs that name a worker ----------------------------------------------------------------------------------

    def ask(self, worker: str, verb: str, *args: Any) -> Any:
        """Let a worker carry out a verb, and wait for it."""
        if worker not in self._workers:
            raise LookupError(f"there is no worker {worker}")
        return self._workers[worker].ask(verb, *args).result()

    def create(self, worker: str, *details: Any) -> None:
        """Let a worker make an RRef on an owner."""
        self.ask(worker, "create", *details)

    def share(self, worker: str, name: str, to: str) -> None:
        """Let a worker share a handle."""
        self.ask(worker, "share", name, to)

    def drop(self, worker: str, name: str) -> None:
        """Let a worker let go of a handle, or of a context."""
        self.ask(worker, "drop", name)
        self._released.add(name)

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Let a worker fetch a value."""
        return self.ask(worker, "fetch", name, timeout)

    def call(self, worker: str, *details: Any) -> Any:
        """Let a worker call a function on another."""
        return self.ask(worker, "call", *details)

    def backward(self, worker: str, context: str, steps: Sequence[Mapping[str, Any]], *details: Any) -> None:
        """Let a worker take steps in a context, which it opens if there is none of that name, and go back."""
        with self._opening:
            if context not in self._contexts or context in self._released:
                self._contexts[context] = self.ask(worker, "open", context)
                self._released.discard(context)
        self._leaves.update({step["leaf"]: step["on"] for step in steps if "leaf" in step})
        self.ask(worker, "backward", self._contexts[context], self._leaves, steps, *details)

    def gradients(self, worker: str, context: str) -> Mapping[str, float]:
        """Give the gradients that a worker has in a context."""
        if context not in self._contexts:
            raise LookupError(f"there is no context {context}")
        found: Mapping[str, float] = self.ask(worker, "gradients", self._contexts[context])
        return found

    def probe(self, worker: str, name: str | None) -> Mapping[str, Any]:
        """Look at a worker's tables, or at one of its handles."""
        found: Mapping[str, Any] = self.ask(worker, "probe", name)
        return found

    def collect(self) -> None:
        """Let every worker that lives collect its garbage."""
        for asked in [worker.ask("collect") for worker in self._workers.values() if worker.lives]:
            with suppress(ConnectionError, TimeoutError):
                asked.result(COLLECT_S)

    def fault(self, kind: str, worker: str, details: Mapping[str, Any]) -> None:
        """Kill a process or stop it for a while; or let its agent make something go wrong."""
        if worker not in self._workers:
            raise LookupError(f"there is no worker {worker}")
        process = self._workers[worker]
        if kind == "kill":
            process.end()
        elif kind == "pause":
            process.child.signal(signal.SIGSTOP)
            timer = threading.Timer(details["seconds"], process.child.signal, [signal.SIGCONT])
            timer.daemon = True
            timer.start()
        elif kind == "restart":
            self._workers[worker] = WorkerProcess(worker, self.agent, self._context)
            life = replace(self._lives[worker], is_again=True)
            _all([self._workers[worker].ask("join", life)], START_S, f"{worker} did not come back")
        else:
            self.ask(worker, "fault", kind, details)


def _all(futures: Sequence[Future[Any]], seconds: float, otherwise: str) -> None:
    """Wait until everybody has answered; raise the first error."""
    done, late = wait(futures, seconds)
    for future in done:
        future.result()
    if late:
        raise TimeoutError(otherwise)
