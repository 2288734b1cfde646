"""What adapters share whose workers are programs in another language, each a process that speaks the kit's protocol for itself.

A worker is started with its name and a folder that all of them share. It gets the verbs that name it as JSON lines, and `start`
and `collect`, and answers them. Starting, killing and pausing it is done here.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

import msgspec

from farref.properties.conformance.adapters.desk import strike
from farref.properties.conformance.conversation.host import ARGUMENTS
from farref.properties.conformance.kit.backend import KINDS

COLLECT_S: Final = 2.0


class RoutedWorker:
    """One worker's process, and what it was asked."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self.name, self.process = name, subprocess.Popen(command, stdin=pipe, stdout=pipe)
        self._lock, self._next, self._open = threading.Lock(), 0, dict[int, Future[Any]]()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, verb: str, request: Mapping[str, Any]) -> Future[Any]:
        """Hand a verb on."""
        answer: Future[Any] = Future()
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._open[number] = answer
            assert self.process.stdin is not None
            try:
                self.process.stdin.write(msgspec.json.encode({"id": number, "verb": verb, **request}) + b"\n")
                self.process.stdin.flush()
            except OSError:
                self._give_up()
        return answer

    def end(self) -> None:
        """Kill it, and wait until it is gone."""
        self.process.kill()
        self.process.wait()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said = msgspec.json.decode(line)
            answer, error = self._open.pop(said["id"]), said.get("error")
            if error is None:
                answer.set_result(said.get("ok"))
            else:
                answer.set_exception(type(error["type"], (KINDS[error["kind"]],), {})(error["message"]))
        self._give_up()

    def _give_up(self) -> None:
        while self._open:
            with suppress(KeyError):
                self._open.popitem()[1].set_exception(ConnectionError(f"worker {self.name} has died"))


class RoutedAdapter:
    """The verbs, each handed on to the worker that it names."""

    name: str
    version: str
    capabilities: frozenset[str]

    def __init__(self) -> None:
        self.workers: dict[str, RoutedWorker] = {}
        self.folder = ""
        for verb in ("create", "share", "drop", "fetch", "call", "probe"):
            setattr(self, verb, lambda *given, verb=verb: self.hand_on(verb, given))

    def command(self, worker: str, options: Mapping[str, Any]) -> Sequence[str]:
        """Give the command that starts a worker, but for its name and the folder."""
        raise NotImplementedError

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Start all workers, and wait until each is ready."""
        self.folder = tempfile.mkdtemp(prefix="world-")
        for name in workers:
            self.workers[name] = RoutedWorker(name, [*self.command(name, options), name, self.folder])
        begun = {"workers": list(workers), "options": dict(options)}
        for ready in [one.ask("start", begun) for one in self.workers.values()]:
            ready.result()

    def hand_on(self, verb: str, given: Sequence[Any]) -> Any:
        """Let a worker carry out a verb."""
        request = dict(zip(ARGUMENTS[verb], given, strict=True))
        if request["worker"] not in self.workers:
            raise LookupError(f"there is no worker {request['worker']}")
        return self.workers[request["worker"]].ask(verb, request).result()

    def collect(self) -> None:
        """Let those that live collect their garbage."""
        for asked in [one.ask("collect", {}) for one in self.workers.values() if one.process.poll() is None]:
            with suppress(ConnectionError, TimeoutError):
                asked.result(COLLECT_S)

    def fault(self, kind: str, worker: str, details: Mapping[str, Any]) -> None:
        """Kill a process, or stop it for a while."""
        if kind == "kill":
            self.workers[worker].end()
        else:
            strike(kind, self.workers[worker].process.pid, details)

    def stop(self) -> list[str]:
        """End every worker."""
        while self.workers:
            self.workers.popitem()[1].end()
        shutil.rmtree(self.folder, ignore_errors=True)
        return []
