"""A story as a program: it drives the adapter through the same verbs, without the kit.

For an adapter written in Python the program calls its methods, so that a debugger can be used; for any other it speaks JSON
lines with it. An operation that was still going on when the next one began is begun, and waited for where it ended. Where
the kit paused, the program does too.

It ends as `git bisect run` wants it: with 1 if the defect shows, with 0 if it does not, and with 125 if the experiment could
not be carried out, because the adapter does not start, or because an operation that is not in question ended otherwise.
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
import json
import os
import threading
import time
import traceback

from farref.properties.conformance.conversation.host import describe, load


class Operation(threading.Thread):
    """A verb under way, in a thread of its own, as it may hang."""

    def __init__(self, number, verb, **request):
        super().__init__(daemon=True)
        self.number, self.verb, self.request, self.how, self.what = number, verb, request, "hangs", None
        self.start()

    def run(self):
        try:
            given = getattr(adapter, self.verb)(*self.request.values())
            self.how, self.what = "gives", json.loads(json.dumps(given))
        except Exception as error:
            self.how, self.what = "fails", describe(error)
'''

SPOKEN: Final = '''\
import json
import os
import signal
import subprocess
import threading
import time
import traceback

under_way = {}
left = []  # not empty once the adapter will answer nothing more


class Operation:
    """A request under way."""

    def __init__(self, number, verb, **request):
        self.number, self.how, self.what, self.answered = number, "hangs", None, threading.Event()
        under_way[id(self)] = self
        adapter.stdin.write(json.dumps({"id": id(self), "verb": verb, **request}) + "\\n")
        adapter.stdin.flush()
        if left:
            self.answered.set()

    def join(self, seconds):
        self.answered.wait(seconds)


def listen():
    for line in adapter.stdout:
        answer = json.loads(line)
        operation = under_way[answer["id"]]
        error = answer.get("error")
        operation.how, operation.what = ("fails", error) if error else ("gives", answer.get("ok"))
        operation.answered.set()
    left.append(adapter)
    for operation in [*under_way.values()]:
        operation.answered.set()
'''

JUDGED: Final = '''

otherwise = []  # the operations that did not end as they did when the kit saw them
defects = []  # those in which the defect shows


def wait(operation, seconds=10.0, ended=None):
    operation.join(seconds)
    print(operation.number, operation.how, "" if operation.how == "hangs" else repr(operation.what), flush=True)
    if ended is not None and operation.how != ended:
        otherwise.append(operation.number)


def judge(operation, how, what, wanted):
    """Note whether the defect shows in an operation: how it ended when the kit saw it, and what was wanted."""
    found, given = operation.how, operation.what
    match wanted:
        case {"ends": _}:
            shows = found == "hangs"
        case {"gives": value}:
            shows = found != "gives" or repr(given) != repr(value)
        case {"succeeds": _}:
            shows = found != "gives"
        case {"fails": kinds}:
            shows = found != "fails" or given["kind"] not in kinds
        case {"counts": counts}:
            shows = found != "gives" or any(given.get(name) != count for name, count in counts.items())
        case {"differs": value}:
            shows = found == "gives" and given == value
        case _:  # nobody said what it should have been
            shows = found == how and (found != "gives" or f"gives {given!r}" == what)
    if shows:
        defects.append(operation.number)


def come_to():
    if otherwise:
        print("The experiment could not be carried out: it went otherwise at", *otherwise)
        return 125
    print("The defect shows at" if defects else "The defect does not show.", *defects)
    return 1 if defects else 0


'''


def python_script(place: str, workers: Sequence[str], options: Mapping[str, Any], row: Row, backend: str) -> Script:
    """Write a program that shows what became of a check, with an adapter written in Python."""
    return _script(PYTHON, [f"adapter = load({place!r})"], workers, options, row, backend)


def spoken_script(
    command: Sequence[str], workers: Sequence[str], options: Mapping[str, Any], row: Row, backend: str
) -> Script:
    """Write a program that shows what became of a check, with an adapter in any language."""
    start = [
        f"command = {list(command)!r}",
        "pipe = subprocess.PIPE",
        "adapter = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)",
        "threading.Thread(target=listen, daemon=True).start()",
        f'wait(Operation("hello", "hello", protocol={PROTOCOL}), 60, "gives")',
    ]
    return _script(SPOKEN, start, workers, options, row, backend, "os.killpg(adapter.pid, signal.SIGKILL)")


def _script(
    prologue: str,
    start: Sequence[str],
    workers: Sequence[str],
    options: Mapping[str, Any],
    row: Row,
    backend: str,
    end: str = "",
) -> Script:
    head = f'"""{_quoted(f"{row.id} on {backend}: {row.title}.")}\n\n{_quoted(row.message or "It was kept.")}\n"""\n\n'
    begin = f'wait(Operation("start", "start", workers={list(workers)!r}, options={dict(options)!r}), 60, "gives")'
    stop = 'wait(Operation("stop", "stop"))'
    play = ["global adapter", *start, begin, *steps(row.story), stop, "return come_to()"]
    main = ["try:", "    code = play()", "except Exception:", "    traceback.print_exc()", "    code = 125"]
    leave = [end, "os._exit(code)  # whatever still hangs"] if end else ["os._exit(code)  # whatever still hangs"]
    body = f'def play():\n{_indented(play)}\n\nif __name__ == "__main__":\n{_indented([*main, *leave])}'
    return Script(f"{row.id.lower().replace('.', '_')}.py", f"{head}{prologue}{JUDGED}{body}")


def _indented(lines: Iterable[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)


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
    """Write that an operation is waited for, and what is made of it: it is in question, or it must end as it did."""
    took = 0.0 if operation.ended is None else operation.ended - operation.begun
    name, seconds = f"o{operation.number}", f", {2 * took:.0f}" if took > LONG else ""
    if operation.trouble:
        how = repr(_how(operation))
        return f"wait({name}{seconds}); judge({name}, {how}, {operation.outcome!r}, {operation.wanted!r})"
    return f"wait({name}{seconds})" if operation.ended is None else f"wait({name}{seconds}, ended={_how(operation)!r})"


def _how(operation: Operation) -> str:
    if operation.ended is None:
        return "hangs"
    return "fails" if operation.outcome.startswith("fails: ") else "gives"


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
