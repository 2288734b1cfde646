"""TLC as an engine: the TLA+ twins of the models (`spec/tla`), checked by the TLA+ community's own checker.

TLC shares no code with our engines and the modules none with the models, so a verdict on which both agree does not hang on a
mistake in either. TLC runs in a process group and a folder of its own, both gone when `check` returns, and is told to talk
to a tool (`-tool`): every message has a number. It names neither the parameters of an action nor the case of a property,
so a counterexample is walked again in the model (`twin.py`).

With more than one worker TLC's depth and counterexamples need not be the shortest. It reports progress once a minute, and
only then can a limit of states or depth stop it. Why an invariant can say what holds eventually: see RRefProperties.tla.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from resource import struct_rusage
from types import MappingProxyType
from typing import Any, Final

from farref.model.autograd.model import AutogradModel
from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.checker.interface import Budget, Kind, Model, Property, Result
from farref.model.checker.run import OnProgress, Run, peak_mb
from farref.model.ids import WORKER_NAMES, worker_name
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import OF_MEMBERS, RRefRules
from farref.model.rref.world import Bounds
from farref.tlc import autograd as autograd_tlc
from farref.tlc.claims import claimed, specification
from farref.tlc.jar import OWN_JAR as OWN_JAR
from farref.tlc.jar import TlcUnavailable as TlcUnavailable
from farref.tlc.jar import find_tlc as find_tlc
from farref.tlc.rref import TlcFailed, camel, read_state, retrace, twin_of

MODULES: Final = resources.files("farref") / "spec" / "tla"
CONSTANT_NAMES: Final = {"workers": "WorkerCount", "rrefs": "RRefCount", "forks": "ForkCount", "shutdown": "Ends"}
HEADER: Final = """\
\\* Written by farref/tlc/engine.py.
SPECIFICATION {specification}
CONSTANTS
    {names}
    Workers <- MCWorkers
    Owner <- MCOwner"""


@dataclass(frozen=True)
class Twin:
    """The TLA+ twin of one protocol: its module, what the configuration says, and which state is which world."""

    model: Callable[[Any, Any], Model]
    module: str
    render_config: Callable[..., str]
    files: Callable[[Any], dict[str, str]]  # modules that depend on the bounds
    state_of: Callable[[Any, Any], object]
    read_state: Callable[[str], object]
    refusal: Callable[[Any], str | None]  # why TLC cannot check a world of these bounds


def check(
    bounds: Any,
    rules: Any,
    properties: Sequence[Property],
    *,
    workers: int = 1,
    symmetry: bool = False,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    on_progress: OnProgress | None = None,
) -> Result:
    """Have TLC search for the first violation. What can only be witnessed (sometimes) is left out."""
    twin, defined = TWINS[type(bounds)], defined_names()
    if refusal := twin.refusal(bounds):
        raise TlcUnavailable(refusal)
    model = twin.model(bounds, rules)
    run = Run("tlc", model, [one for one in properties if one.kind is not Kind.SOMETIMES], budget, on_progress)
    known = {one.id: one for one in run.properties if one.id in defined}
    run.undecided = {one.id for one in run.properties} - set(known)
    run.notes += [f"the TLA+ modules do not define {name}" for name in sorted(run.undecided)]
    listener = Listener(run)
    config = twin.render_config(bounds, rules, list(known), symmetry=symmetry)
    usage = run_tlc(config, listener, workers, module=twin.module, files=twin.files(bounds))
    run.notes += [listener.version] if listener.version else []
    if listener.broken is not None:
        broken = known[listener.broken]
        states = [twin.read_state(text) for text in listener.trace]
        run.violate(broken, *retrace(model, broken, states, lambda world: twin.state_of(world, bounds)))
        run.notes += ["TLC stops at the first violation"] if len(known) > 1 else []
    elif not run.complete and not run.is_spent(run.depth):
        raise TlcFailed("TLC ended without a verdict:\n" + "".join(listener.said))
    spent = usage.ru_utime + usage.ru_stime
    return replace(run.result(), cpu_seconds=spent, peak_mb=peak_mb(usage), coverage={})


# -- what TLC is told --------------------------------------------------------------------------------------------------


def render_config(bounds: Bounds, rules: RRefRules, claims: Sequence[str], *, symmetry: bool = False) -> str:
    """Write the .cfg that says what holds in this world, by these rules: invariants, and temporal formulas (named ...Live)."""
    workers = map(worker_name, Bounds(len(WORKER_NAMES)).worker_ids)
    names = " ".join(f"{name} = {name}" for name in (*workers, "Nobody"))
    lines = [HEADER.format(specification=specification(claims), names=names)]
    constants = {
        CONSTANT_NAMES.get(name, camel(name)): value
        for name, value in {**vars(bounds), **vars(rules)}.items()
        if name not in NOT_IN_TLA
    }
    lines += [f"    {name} = {str(value).upper()}" for name, value in constants.items()]
    lines += ["SYMMETRY OthersAlike"] if symmetry and bounds.workers - bounds.rrefs > 1 else []  # TLC wants two to swap
    return "\n".join([*lines, *map(claimed, claims)]) + "\n"


NOT_IN_TLA: Final = {"cuts", "exclusions", "joins", "lost_owners", *OF_MEMBERS}
"""The bounds and rules that RRef.tla does not have."""

ABSENT_OF_RREFS: Final = {
    "cuts": "in RRef.tla no link breaks; leave out --cuts",
    "exclusions": "in RRef.tla nobody is excluded, and RRefViews.tla has other steps; leave out --exclusions",
}
"""What RRef.tla leaves out, by the bound."""

TWINS: Final = {
    Bounds: Twin(
        RRefModel,
        "MCRRef",
        render_config,
        lambda _: {},
        lambda world, _: twin_of(world),
        read_state,
        lambda bounds: next((said for name, said in ABSENT_OF_RREFS.items() if getattr(bounds, name)), None),
    ),
    AutogradBounds: Twin(
        AutogradModel,
        "MCAutograd",
        autograd_tlc.render_config,
        lambda bounds: {"AutogradGraphs.tla": autograd_tlc.graphs_module(bounds)},
        autograd_tlc.twin_of,
        autograd_tlc.read_state,
        lambda _: None,
    ),
}
"""By the type of their bounds."""


def defined_names() -> frozenset[str]:
    """List what the TLA+ modules define without parameters; the properties TLC can check are among it."""
    return frozenset(name for text in _modules().values() for name in re.findall(r"^(\w+) ==", text, re.MULTILINE))


def _modules() -> dict[str, str]:
    return {one.name: one.read_text(encoding="utf-8") for one in MODULES.iterdir() if one.name.endswith(".tla")}


# -- the process -------------------------------------------------------------------------------------------------------


def run_tlc(
    config: str,
    listener: Listener,
    workers: int = 1,
    options: Sequence[str] = (),
    module: str = "MCRRef",
    files: Mapping[str, str] = MappingProxyType({}),
) -> struct_rusage:
    """Run TLC on a configuration, telling the listener what it says; nothing of it is left afterwards."""
    java, jar = find_tlc()
    with tempfile.TemporaryDirectory(prefix="farref-tlc-") as folder:
        for name, text in {**_modules(), **files, "claim.cfg": config}.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [java, "-XX:+UseParallelGC", f"-Djava.io.tmpdir={folder}", "-cp", jar, "tlc2.TLC", "-tool"]
        command += ["-deadlock", "-workers", str(workers), "-metadir", f"{folder}/states", *options]
        return _listen([*command, "-config", "claim.cfg", module], folder, listener)


def _listen(command: list[str], folder: str, listener: Listener) -> struct_rusage:
    pipe, null, both = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
    process = subprocess.Popen(
        command, cwd=folder, stdin=null, stdout=pipe, stderr=both, process_group=0, encoding="utf-8", errors="replace"
    )
    assert process.stdout is not None
    seconds = listener.run.budget_left().seconds_max
    clock = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, end, [process.pid])
    clock.start()
    try:
        for number, text in messages(process.stdout):
            if not listener.hear(number, text):
                break
    except KeyboardInterrupt:
        listener.run.cut = "interrupted"
    finally:
        clock.cancel()
        clock.join()
        end(process.pid)
        process.stdout.close()
        usage = os.wait4(process.pid, 0)[2]
        process.returncode = 0  # it was waited for just now, to learn what it took
    return usage


def end(group: int) -> None:
    """End a process group of ours. It has not been waited for yet, so its id is still its own."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


# -- what TLC says -----------------------------------------------------------------------------------------------------

PRINTED, BROKEN_AT_ONCE, BROKEN, SUCCESS, DEPTH, STATS, PROGRESS, STATE = 0, 2107, 2110, 2193, 2194, 2199, 2200, 2217
VERSION: Final = 2262
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


class Listener:
    """Hears what TLC says and keeps the books of the run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.version = ""
        self.broken: str | None = None
        self.trace: list[str] = []
        self.said: deque[str] = deque(maxlen=40)

    def hear(self, number: int, text: str) -> bool:
        """Take note of a message; say whether TLC may go on."""
        self.said.append(text)
        if number in (BROKEN, BROKEN_AT_ONCE) and (name := re.search(r"Invariant (\w+) is violated", text)):
            self.broken = name[1]
        elif number == STATE:
            self.trace.append(text)
        elif number == VERSION:
            self.version = " ".join(text.split())
        elif number == SUCCESS:
            self.run.complete = True
            self.run.collision_bound = float(re.findall(r"val = (\S+)", text)[0])
        elif number == DEPTH:
            self.run.depth = int(re.findall(r"\d+", text)[0])
        elif number in (STATS, PROGRESS):
            return self._count(text)
        return True

    def _count(self, text: str) -> bool:
        run = self.run
        if level := re.match(r"Progress\((\d+)\)", text):
            run.depth = int(level[1])
        counts = re.findall(r"([\d,]+) (?:states|distinct)", text)
        run.generated, run.distinct, frontier = (int(count.replace(",", "")) for count in counts)
        run.tell(frontier, at_once=True)
        return run.complete or self.broken is not None or not run.is_spent(run.depth)
