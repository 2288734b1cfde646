"""The worlds of this user that run on this machine, as their workers report them: who is stuck, and why.

Each worker leaves a small file in the directory of its world, and writes it anew about every second (`impl/worker/report.py`).
Nothing is asked of a worker here, so nothing waits for one that is stuck: its report is old, and its process says the rest.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FORMAT: Final = "farref-report/1"
PATTERN: Final = "*.report.json"
PATIENCE_S: Final = 5.0
"""How long something may take before it is worth a word."""
LATE: Final = 3
"""So many reports may fail to come."""

ENDED: Final = ("", "Z")
"""No process, or one of which only its exit code is left."""

OK, WAITING, STUCK, GONE = "ok", "waiting", "stuck", "gone"


@dataclass(frozen=True)
class Seen:
    """One worker: its last report, how it is, and why."""

    report: dict[str, Any]
    age_s: float
    state: str
    why: tuple[str, ...]


def find_worlds(chosen: str | None) -> list[Path]:
    """Find the directories of worlds: the one given, the one that a process is in, or all that `launch` has made."""
    if chosen is None or chosen.isdigit():
        there = sorted(Path(tempfile.gettempdir()).glob("farref-world-*"))
        worlds = [world for world in there if os.access(world, os.R_OK | os.X_OK) and _lives(world)]
        return worlds if chosen is None else [world for world in worlds if _has(world, int(chosen))]
    return [Path(chosen)] if Path(chosen).is_dir() and _reports(Path(chosen)) else []


def look(world: Path, now: float) -> list[Seen]:
    """Look at the workers of a world, in the order of their ranks."""
    return [_seen(report, now) for report in sorted(_reports(world), key=lambda report: int(report["rank"]))]


def _lives(world: Path) -> bool:
    return any(process_state(report["pid"]) not in ENDED for report in _reports(world))


def _has(world: Path, pid: int) -> bool:
    return any(report["pid"] == pid for report in _reports(world))


def _reports(world: Path) -> list[dict[str, Any]]:
    found = []
    for file in world.glob(PATTERN):
        try:
            report = json.loads(file.read_bytes())
        except (OSError, ValueError):  # the worker has left meanwhile
            continue
        if isinstance(report, dict) and report.get("format") == FORMAT:
            found.append(report)
    return found


def _seen(report: dict[str, Any], now: float) -> Seen:
    age, process = max(0.0, now - report["time"]), process_state(report["pid"])
    if process in ENDED:
        return Seen(report, age, GONE, ("its process has ended",))
    if process in ("T", "t"):
        return Seen(report, age, STUCK, ("its process is stopped, by a signal or a debugger", *_whys(report)))
    if age > LATE * report["every_s"] + 1:
        late = f"no report for {age:.0f} s: some code keeps the interpreter, or the machine is too busy"
        return Seen(report, age, STUCK, (late, *_whys(report)))
    whys = tuple(_whys(report))
    return Seen(report, age, WAITING if whys else OK, whys)


def process_state(pid: int) -> str:
    """Say how a process is, in the letter that the system has for it; nothing if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def _whys(report: dict[str, Any]) -> Iterator[str]:
    """Say what a worker waits for, and who does not take in what it has to say."""
    for peer in report["peers"]:
        name = peer["name"]
        if peer["link"] == "dead":
            yield peer["reason"]
        if peer["link"] == "full":
            yield f"{name} takes too little in: {peer['queued_bytes']} bytes wait for it"
        if peer["link"] != "dead" and peer["oldest_s"] >= PATIENCE_S:
            yield f"waits for {name} since {peer['oldest_s']:.0f} s: {peer['oldest']}"
        if peer["link"] != "dead" and peer["retries"]:
            yield f"{name} has not answered {peer['unanswered']} control messages, sent again {peer['retries']} times"
    members = report["members"]
    if members["unsettled"]:
        yield f"view {members['view']} is not buried: {', '.join(members['unsettled'])} did not settle it yet"
    if members["heirs"]:
        yield f"view {members['view']} is not settled: owners do not count {members['heirs']} forks of the lost yet"
    for one in report["functions"]:
        if one["seconds"] >= PATIENCE_S:
            yield f"{one['function']} runs since {one['seconds']:.0f} s"
