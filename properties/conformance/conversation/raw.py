"""A conversation with an adapter of which nothing is taken for granted: whatever it writes is kept and complained of."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from farref.properties.conformance.conversation.process import AdapterProcess
from farref.properties.conformance.kit.backend import KINDS

LINE_LETTERS_MAX: Final = 120
COMPLAINTS_MAX: Final = 20
"""How many lines may be wrong. From a writer without end nothing more is learnt, and it would be read for ever."""


class ReplyKind(Enum):
    """What became of a request."""

    OK = "ok"
    ERROR = "error"
    SILENCE = "silence"
    ENDED = "ended"


@dataclass(frozen=True)
class Reply:
    """What an adapter answered to a request, if it did."""

    kind: ReplyKind
    ok: Any = None
    error: Any = None
    number: int = 0
    """How many answers had come before."""


class Asked:
    """A request under way."""

    def __init__(self) -> None:
        self._done: queue.Queue[Reply] = queue.Queue()

    def settle(self, reply: Reply) -> None:
        """Take what became of it."""
        self._done.put(reply)

    def wait(self, seconds: float) -> Reply:
        """Wait for what becomes of it."""
        try:
            return self._done.get(timeout=seconds)
        except queue.Empty:
            return Reply(ReplyKind.SILENCE)


class RawSession:
    """A conversation in which any line may be wrong."""

    def __init__(self, command: Sequence[str]) -> None:
        self.complaints: list[str] = []
        self._asked: dict[int, Asked] = {}
        self._answered: set[int] = set()
        self._lock, self._next = threading.Lock(), 0
        self.is_given_up = False
        """Whether so much was wrong that no more is read."""
        self.process = AdapterProcess(command, self._hear, self._end)

    def why_ended(self) -> str:
        """Say why no more answers come."""
        if self.is_given_up:
            return f"{COMPLAINTS_MAX} of its lines were wrong, and no more are read"
        return self.process.why_ended()

    def begin(self, verb: str, **request: Any) -> Asked:
        """Send a request."""
        asked = Asked()
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._asked[number] = asked
        is_sent = self.process.write(json.dumps({"id": number, "verb": verb, **request}).encode() + b"\n")
        if not is_sent or not self.process.is_heard:
            asked.settle(Reply(ReplyKind.ENDED))
        return asked

    def _hear(self, line: bytes) -> bool:
        self._read(line)
        self.is_given_up = len(self.complaints) >= COMPLAINTS_MAX
        return not self.is_given_up

    def _read(self, line: bytes) -> None:
        try:
            answer = json.loads(line)
        except ValueError:
            self._complain("prints on stdout what is not JSON; stdout is for answers only", line)
        except RecursionError:
            self._complain("writes a line that is nested too deeply to be read", line)
        else:
            if isinstance(answer, dict):
                self._take(answer, line)
            else:
                self._complain("writes a line that is no JSON object", line)

    def _take(self, answer: dict[str, Any], line: bytes) -> None:
        number = answer.get("id")
        if not isinstance(number, int) or isinstance(number, bool):
            self._complain("writes an answer whose `id` is not a whole number", line)
        elif number in self._answered:
            self._complain(f"answers request {number} twice", line)
        elif number not in self._asked:
            self._complain(f"answers request {number}, which was never made", line)
        else:
            self._answered.add(number)
            self._judge(answer, line)
            self._asked.pop(number).settle(_reply(answer, len(self._answered) - 1))

    def _judge(self, answer: dict[str, Any], line: bytes) -> None:
        if extra := sorted(set(answer) - {"id", "ok", "error"}):
            self._complain(f"writes an answer with {', '.join(map(repr, extra))}; it may have id, ok and error", line)
        error = answer.get("error")
        if error is not None and "ok" in answer:
            self._complain("writes an answer with both ok and error", line)
        if error is None:
            return
        if not isinstance(error, dict) or not all(isinstance(one, str) for one in error.values()):
            self._complain("writes an error that is not an object of kind, type and message, all strings", line)
        elif (kind := error.get("kind", "error")) not in KINDS:
            self._complain(f"writes an error of the kind {kind!r}; there are {', '.join(KINDS)}", line)

    def _complain(self, mistake: str, line: bytes) -> None:
        shown = line.decode(errors="replace").strip()
        shown = shown if len(shown) <= LINE_LETTERS_MAX else f"{shown[: LINE_LETTERS_MAX - 1]}…"
        self.complaints.append(f"it {mistake}: {shown}")

    def _end(self) -> None:
        for asked in list(self._asked.values()):
            asked.settle(Reply(ReplyKind.ENDED))


def _reply(answer: dict[str, Any], number: int) -> Reply:
    if answer.get("error") is not None:
        return Reply(ReplyKind.ERROR, error=answer["error"], number=number)
    return Reply(ReplyKind.OK, ok=answer.get("ok"), number=number)
