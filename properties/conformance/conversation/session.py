"""A conversation with an adapter, which is always a process of its own, in JSON lines.

A request is `{"id": 7, "verb": "fetch", "worker": "A", "name": "x", "timeout": null}`; its answer has the same id and either
`ok` or `error`. Answers may come in any order. The first request is `hello`, and its answer names the backend.

A backend may hang, and then nothing in it can be relied on. So every request has a deadline, and a session can be put down:
its whole process group is killed. That ends a backend written in any language, with all workers that it started, unless one
has begun a session of its own (setsid).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

import msgspec

from farref.properties.conformance.conversation.process import AdapterProcess
from farref.properties.conformance.kit.backend import KINDS

PROTOCOL: Final = 1
HELLO_SECONDS: Final = 60.0
HELLO_NEEDS: Final = "the answer to `hello` must have a name, a version and a list of capabilities"
UNSUPPORTED: Final = "unsupported"
"""The kind of failure that is the adapter's: it has declared what it cannot do."""


TRACES: Final = ("Traceback ", "=====", 'File "', "At:", "Exception raised from")
"""What the lines begin with from which on a message is the trace of a stack. Nobody reads that in a headline."""


class AdapterError(Exception):
    """The adapter, not the backend, is at fault: it ended, or it says what the protocol does not know."""


class OperationFailed(Exception):  # noqa: N818 (it says what happened)
    """An operation raised. This is an answer: whether it is the right one, the clause says."""

    def __init__(self, kind: str, type_: str, message: str, trace: str | None = None) -> None:
        super().__init__(f"{type_}: {headline(message)}" if message else type_)
        self.kind, self.type, self.message = kind, type_, message
        self.in_full = f"{type_}: {message}" if message else type_
        self.trace = trace


def headline(message: str) -> str:
    """Give what a message says in one line: what stands before the trace of a stack, and the error that ends the trace."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    before = list(takewhile(lambda line: not line.startswith(TRACES), lines))
    said = " ".join(before)
    ends_as = re.match(r"[\w.]*(?:Error|Exception)\b(?:: )?(.*)", lines[-1]) if len(before) < len(lines) else None
    return " … ".join(filter(None, [said, lines[-1]])) if ends_as and ends_as[1] not in said else said or message


class Hang(Exception):  # noqa: N818 (it says what happened)
    """An operation did not end within its deadline."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What an adapter says to a request."""

    id: int
    ok: Any = None
    error: dict[str, str] | None = None


@dataclass(frozen=True)
class Identity:
    """Who the backend says it is."""

    name: str
    version: str
    capabilities: frozenset[str]
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why it does not declare something, by its name."""


class Request:
    """A request under way."""

    def __init__(self, session: Session) -> None:
        self._session, self._done = session, threading.Event()
        self._answer: Answer | None = None

    def settle(self, answer: Answer | None) -> None:
        """Take the answer; none if there will never be one."""
        self._answer = answer
        self._done.set()

    @property
    def done(self) -> bool:
        """Whether it has been answered."""
        return self._done.is_set()

    def wait(self, seconds: float) -> Any:
        """Give what the adapter answered, or raise what became of it instead."""
        if not self._done.wait(seconds):
            raise Hang(seconds)
        if self._answer is None:
            raise AdapterError(self._session.why_ended())
        if (error := self._answer.error) is not None:
            kind = error.get("kind", "error")
            if kind not in KINDS:
                raise AdapterError(f"an error has the kind {kind!r}; there are {', '.join(KINDS)}")
            raise OperationFailed(kind, error.get("type", "Error"), error.get("message", ""), error.get("trace"))
        return self._answer.ok


class Session:
    """What has been asked of an adapter, and who it is."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = tuple(command)
        self._lock, self._next = threading.Lock(), 0
        self._requests: dict[int, Request] = {}
        self._complaint: str | None = None
        try:
            self._process = AdapterProcess(command, self._hear, self._end)
        except OSError as error:
            raise AdapterError(f"{command[0]} cannot be started: {error.strerror}") from error
        self.identity = self._greet()

    def ask(self, verb: str, arguments: Mapping[str, Any]) -> Request:
        """Send a request."""
        request = Request(self)
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._requests[number] = request
            is_sent = self._process.write(msgspec.json.encode({"id": number, "verb": verb, **arguments}) + b"\n")
        if not is_sent or not self._process.is_heard:
            request.settle(None)
        return request

    def why_ended(self) -> str:
        """Say why no more answers come, with the last that the adapter wrote to its stderr."""
        ended = self._complaint or self._process.why_ended()
        return self._complaint or ended  # what it wrote before it ended has been heard by now

    def close(self) -> None:
        """Let the adapter end by itself, and put down what is left."""
        self._process.end()
        self.put_down()

    def put_down(self) -> None:
        """Kill the adapter and every process of its group."""
        self._process.put_down()

    def _greet(self) -> Identity:
        try:
            said = self.ask("hello", {"protocol": PROTOCOL}).wait(HELLO_SECONDS)
            return msgspec.convert(said, Identity)
        except BaseException as error:  # as Ctrl-C too: nothing may be left behind
            self.put_down()
            match error:
                case Hang():
                    raise AdapterError(f"the adapter does not answer `hello`: {error}") from error
                case msgspec.ValidationError():
                    raise AdapterError(f"{HELLO_NEEDS}: {error}") from error
                case OperationFailed() | AdapterError():
                    raise AdapterError(f"the adapter cannot be used: {error}") from error
            raise

    def _hear(self, line: bytes) -> bool:
        try:
            answer = msgspec.json.decode(line, type=Answer)
            self._requests.pop(answer.id).settle(answer)
        except (ValueError, KeyError, RecursionError) as error:
            self._complaint = f"the adapter wrote what is not an answer to anything: {line[:200]!r} ({error})"
            return False
        return True

    def _end(self) -> None:
        for request in list(self._requests.values()):
            request.settle(None)
