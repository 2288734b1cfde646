"""What a worker tells about itself while it runs, for `farref top`: a small file in the directory of its world.

It is written anew every `report_seconds`, by whoever reads, and replaced as a whole: nobody finds half of one. A worker that
has stopped, or does nothing but compute in C, leaves an old one, and that tells as much. Only the user of the world can enter
the directory. A disk that is full costs the report and nothing else; so does a report that cannot be made, and it is the last.
"""

from __future__ import annotations

import math
import os
import shutil
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import asdict

from farref.impl.worker.peers import excluded_of, functions_of, peers_of, unsettled_of

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

FORMAT: Final = "farref-report/1"
SUFFIX: Final = ".report.json"
TRIES: Final = 5
RESTING: Final = 5
"""So many times as rarely reports whoever has nothing to do."""
_stopped: Final[list[bool]] = []


class Reporter:
    """Writes the reports of one worker."""

    def __init__(self, worker: Worker, directory: Path) -> None:
        self._worker = worker
        self._every = worker.settings.report_seconds
        self._file = directory / f"{worker.rank}{SUFFIX}"
        self._draft = directory / f".{worker.rank}{SUFFIX}"
        self._last = -math.inf

    def tick(self, now: float, rests: bool = False) -> None:
        """Report if it is time to, and more rarely from somebody who rests. Not under the lock."""
        every = self._every * (RESTING if rests else 1)
        if not self._every or now < self._last + every or _stopped or self._worker.closed:
            return
        self._last = now
        try:
            self._draft.write_bytes(msgspec.json.encode(self._report(every)))
            os.replace(self._draft, self._file)
        except OSError:
            pass
        except Exception:  # whoever reports reads for all, and has to go on reading
            traceback.print_exc()
            self._every = 0.0

    def end(self) -> None:
        """Leave nothing."""
        for file in (self._draft, self._file):
            with suppress(OSError):
                file.unlink(missing_ok=True)

    def _report(self, every: float) -> dict[str, Any]:
        worker = self._worker
        with worker.lock:
            peers = peers_of(worker)
            told = {"entries": len(worker.core.owner.entries), "references": len(worker.core.user.records)}
            members = _members(worker)
        functions = functions_of(worker)
        return {
            "format": FORMAT,
            "worker": worker.names[worker.rank],
            "rank": worker.rank,
            "pid": os.getpid(),
            "time": time.time(),
            "every_s": every,
            "running": worker.running,
            "waiting": len(worker.reactor.tasks),
            **told,
            "functions": [asdict(one) for one in functions],
            "peers": [asdict(one) for one in peers],
            "members": members,
        }


def _members(worker: Worker) -> dict[str, Any]:
    """Tell who is a member, as far as this worker knows. Those who are buried, and not counted any more, are only counted."""
    core, members = worker.core, worker.core.members
    lost = {who for who in core.dead if who not in core.here.buried or core.owner.counts.forks[who]}
    return {
        "view": members.view,
        "settled": members.settled,
        "buried": members.buried,
        "heirs": len(members.heirs),
        "unsettled": [worker.names[who] for who in unsettled_of(worker)],
        "gone": len(core.dead) - len(lost),
        "excluded": [
            asdict(one) | {"forks": len(one.forks), "children": len(one.children)} for one in excluded_of(worker, lost)
        ],
    }


def remove_world(directory: str) -> None:
    """Leave nothing of a world on disk, although this worker may be about to write its last report."""
    _stopped.append(True)
    for _ in range(TRIES):
        shutil.rmtree(directory, ignore_errors=True)
        if not os.path.exists(directory):
            return
        time.sleep(0.01)
