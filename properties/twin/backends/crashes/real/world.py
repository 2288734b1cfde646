"""The processes of a story, and the driver, who has the authority and plays no other part."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from farref.impl.api import get_debug_info, rpc_async, rpc_sync
from farref.impl.cluster import Cluster, launch
from farref.impl.core.ids import WorkerId
from farref.impl.core.observe import WorkerTables
from farref.impl.errors import RpcError
from farref.impl.worker.process import current
from farref.properties.twin.backends.crashes.real import far
from farref.properties.twin.backends.crashes.real.points import RealPoint
from farref.properties.twin.backends.patience import is_exhausted

LETTERS: Final = "ABCDE"
PAUSE_S: Final = 0.005
PATIENCE_S: Final = 20.0
RPC_S: Final = 60.0

_STEPS: Final[tuple[tuple[str, Callable[..., Any], int], ...]] = (
    (r"(\w) creates (\w) on (\w)", far.create, 0),
    (r"(\w) makes (\w)", far.make, 0),
    (r"(\w) passes (\w) to (\w)", far.pass_to, 0),
    (r"(\w) returns (\w) to (\w)", far.take_from, 2),
    (r"(\w) fetches (\w)", far.fetch, 0),
    (r"(\w) awaits (\w)", far.fetch, 0),
    (r"(\w) drops (\w)", far.drop, 0),
)
"""How each step is written, what it is, and which of its words is the worker that does it."""


class World:
    """Five workers, of whom one is lost again and again."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        allow, patience = [far.__name__], {"rpc_timeout": RPC_S, "silence_seconds": 0.0}
        self.cluster: Cluster = self._stack.enter_context(
            launch(list(LETTERS), allow=allow, shutdown_timeout=1.0, **patience)  # type: ignore[arg-type]
        )
        self.point: RealPoint | None = None
        self.lost: WorkerId | None = None

    def close(self) -> None:
        """Let every process end."""
        with suppress(RpcError):
            self._stack.close()

    # One point

    def arm(self, point: RealPoint) -> None:
        """Have the victim of a point be lost at its message."""
        self.point, self.lost = point, None
        mark, moment = point.mark, point.moment
        peer = mark.target if moment.is_sender else mark.source
        told = (peer, mark.kind, mark.occurrence, moment.is_sender, moment.is_after, moment.stops)
        rpc_sync(point.victim, far.arm, told)

    def members(self) -> list[str]:
        """Name whoever is not lost."""
        return [name for name in LETTERS if self.lost is None or self.point is None or name != self.point.victim]

    def ask(self, name: str, function: Callable[..., Any], *args: object) -> Any:
        """Call a worker; if the victim is lost meanwhile, have it excluded, so that everything ends."""
        future = rpc_async(name, function, args)
        while not future.done():
            self.look()
            time.sleep(PAUSE_S)
        self.look()
        return future.wait()

    def play(self, line: str) -> None:
        """Take a step of a story, if whoever takes it is not lost. It may fail then, as somebody else may be."""
        for pattern, function, who in _STEPS:
            if found := re.fullmatch(pattern, line):
                words = list(found.groups())
                name = words.pop(who)
                arguments = [words[1], words[0]] if who else words
                if name in self.members():
                    with suppress(RpcError, IndexError):
                        self.ask(name, function, *arguments)

    def is_lost(self) -> bool:
        """Look whether the victim is lost by now."""
        self.look()
        return self.lost is not None

    def look(self) -> None:
        """Look at the victim. One that has only stopped is excluded by mistake."""
        if self.lost is not None or self.point is None:
            return
        rank, victim = current().find(self.point.victim), self.point.victim
        if self.point.moment.stops and _is_stopped(self.cluster.pid(victim)):
            current().declare_dead(rank, "it stands still")
            self.lost = rank
        elif rank in current().core.dead:
            self.lost = rank

    def wake(self) -> bool:
        """Let a victim that was stopped go on; say whether it ends, as it is refused (R38)."""
        assert self.point is not None
        process = self.cluster.processes[self.point.victim]
        os.kill(process.pid, signal.SIGCONT)
        return self.wait(lambda: process.exitcode is not None)

    def renew(self) -> None:
        """Start the victim anew."""
        if self.point is not None:
            self.cluster.restart(self.point.victim)
        self.point = self.lost = None

    # What there is

    def tables(self) -> dict[WorkerId, WorkerTables]:
        """Show the tables of the driver and of all members."""
        shown = [msgspec.msgpack.decode(self.ask(name, far.tables), type=WorkerTables) for name in self.members()]
        return {one.worker: one for one in (get_debug_info(), *shown)}

    def wait(self, holds: Callable[[], bool]) -> bool:
        """Wait until something holds, and say whether it does in time."""
        began = time.monotonic()
        while not holds():
            if is_exhausted(began, PATIENCE_S):
                return False
            time.sleep(PAUSE_S)
        return True


def _is_stopped(pid: int) -> bool:
    try:
        threads = [(one / "stat").read_text() for one in Path(f"/proc/{pid}/task").iterdir()]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return all(text.rpartition(")")[2].split()[0] == "T" for text in threads)
