"""A story as a program: it drives the adapter through the same verbs, without the kit's judgement.

For an adapter written in Python the program calls its methods, so that a debugger can be used; for any other it speaks JSON
lines with it. An operation that was still going on when the next one began is begun, and waited for where it ended. Where
the kit paused, the program does too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from farref.properties.conformance.conversation.host import ARGUMENTS
from farref.properties.conformance.conversation.session import PROTOCOL
from farref.properties.conformance.kit.document import Operation, Row, Script

PAUSE_MIN: Final = 0.05
"""Seconds between two operations below which nobody meant to wait."""

LONG: Final = 5.0
"""Seconds that an operation takes for which the usual wait may be too short."""

PYTHON: Final = '''\
import os
import threading

from farref.properties.conformance.conversation.host import load


class Operation(threading.Thread):
    """A verb under way, in a thread of its own, as it may hang."""

    def __init__(self, number, verb, **request):
        super().__init__(daemon=True)
        self.number, self.verb, self.request, self.outcome = number, verb, request, "HANGS"
        self.start()

    def run(self):
        try:
            self.outcome = f"gives {getattr(adapter, self.verb)(*self.request.values())!r}"
        except Exception as error:
            self.outcome = f"raises {type(error).__name__}: {error}"
'''

SPOKEN: Final = '''\
import json
import os
import signal
import subprocess
import threading

under_way = {}


class Operation:
    """A request under way."""

    def __init__(self, number, verb, **request):
        self.number, self.outcome, self.answered = number, "HANGS", threading.Event()
        under_way[id(self)] = self
        adapter.stdin.write(json.dumps({"id": id(self), "verb": verb, **request}) + "\\n")
        adapter.stdin.flush()

    def join(self, seconds):
        self.answered.wait(seconds)


def listen():
    for line in adapter.stdout:
        answer = json.loads(line)
        operation = under_way[answer["id"]]
        error = answer.get("error")
        operation.outcome = f"raises {error}" if error else f"gives {answer.get('ok')!r}"
        operation.answered.set()
'''

WAIT: Final = """

def wait(operation, seconds=10.0):
    operation.join(seconds)
    print(operation.number, operation.outcome, flush=True)


"""


def python_script(place: str, workers: Sequence[str], options: Mapping[str, Any], row: Row, backend: str) -> Script:
    """Write a program that shows what became of a check, with an adapter written in Python."""
    start = [f"adapter = load({place!r})", f"adapter.start({list(workers)!r}, {dict(options)!r})"]
    stop = ['wait(Operation("stop", "stop"))', "os._exit(0)  # whatever still hangs"]
    return _script(PYTHON, start, stop, row, backend)


def spoken_script(
    command: Sequence[str], workers: Sequence[str], options: Mapping[str, Any], row: Row, backend: str
) -> Script:
    """Write a program that shows what became of a check, with an adapter in any language."""
    start = [
        f"command = {list(command)!r}",
        "pipe = subprocess.PIPE",
        "adapter = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)",
        "threading.Thread(target=listen, daemon=True).start()",
        f'wait(Operation("hello", "hello", protocol={PROTOCOL}), 60)',
        f'wait(Operation("start", "start", workers={list(workers)!r}, options={dict(options)!r}), 60)',
    ]
    stop = ['wait(Operation("stop", "stop"))', "os.killpg(adapter.pid, signal.SIGKILL)  # whatever still hangs"]
    return _script(SPOKEN, start, stop, row, backend)


def _script(prologue: str, start: Sequence[str], stop: Sequence[str], row: Row, backend: str) -> Script:
    head = f'"""{_quoted(f"{row.id} on {backend}: {row.title}.")}\n\n{_quoted(row.message or "It was kept.")}\n"""\n\n'
    played = list(steps(row.story))
    if any(line.startswith("time.") for line in played):
        prologue = prologue.replace("import threading\n", "import threading\nimport time\n", 1)
    body = "".join(f"    {line}\n" for line in (*start, *played, *stop))
    name = f"{row.id.lower().replace('.', '_')}.py"
    return Script(name, f'{head}{prologue}{WAIT}if __name__ == "__main__":\n{body}')


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def steps(story: Iterable[Operation]) -> Iterator[str]:
    """Write the operations of a story in the order in which they began, and wait for each where it ended."""
    waiting: list[Operation] = []
    now = 0.0
    for operation in story:
        for ended in _ended(waiting, operation.begun):
            yield _wait(ended)
            now = max(now, ended.ended or now)
        if (pause := operation.begun - now) > PAUSE_MIN:
            yield f"time.sleep({pause:.2f})"
        yield f"# {operation.number}. {_one_line(operation.text)}{_outcome(operation)}"
        yield f"o{operation.number} = Operation({_call(operation)})"
        waiting.append(operation)
        now = max(now, operation.begun)
    yield from (_wait(one) for one in sorted(waiting, key=_end))


def _wait(operation: Operation) -> str:
    took = 0.0 if operation.ended is None else operation.ended - operation.begun
    return f"wait(o{operation.number}, {2 * took:.0f})" if took > LONG else f"wait(o{operation.number})"


def _ended(waiting: list[Operation], time: float) -> list[Operation]:
    """Take out those that had ended by then, in the order in which they did."""
    ended = sorted((one for one in waiting if _end(one) <= time), key=_end)
    for one in ended:
        waiting.remove(one)
    return ended


def _end(operation: Operation) -> float:
    return float("inf") if operation.ended is None else operation.ended


def _call(operation: Operation) -> str:
    named = (f"{name}={operation.request[name]!r}" for name in ARGUMENTS[operation.verb] if name in operation.request)
    return ", ".join([str(operation.number), repr(operation.verb), *named])


def _outcome(operation: Operation) -> str:
    return f": it {_one_line(operation.outcome)}" if operation.outcome else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
