"""What was measured, as a file: `properties/zoo/evidence.json`. It says where and when."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from farref import __version__
from farref.properties.work.cluster import cores
from farref.zookeeping.outcome import Outcome

PLACE: Final = Path(__file__).resolve().parents[1] / "properties" / "zoo" / "evidence.json"
"""The file of this package."""


class Stamp(Struct, frozen=True, kw_only=True):
    """Where and when something was measured."""

    commit: str
    date: str
    machine: str


class Judged(Struct, kw_only=True):
    """What an engine made of a creature, and where."""

    outcome: Outcome
    stamp: int
    """The number of its stamp in the file."""


class Evidence(Struct, kw_only=True):
    """Everything that was measured."""

    stamps: list[Stamp] = msgspec.field(default_factory=list)
    zoo: dict[str, dict[str, Judged]] = msgspec.field(default_factory=dict)
    """By creature, and by engine."""
    coverage: dict[str, Any] = msgspec.field(default_factory=dict)
    transitions: dict[str, Any] = msgspec.field(default_factory=dict)

    def stamp(self, stamp: Stamp) -> int:
        """Give the number of a stamp, which is entered if it is new."""
        if stamp not in self.stamps:
            self.stamps.append(stamp)
        return self.stamps.index(stamp)

    def stale(self) -> set[tuple[str, str]]:
        """List the creatures and engines whose outcome is of a commit that is not in this history."""
        unknown = {number for number, one in enumerate(self.stamps) if not is_in_history(one.commit)}
        return {
            (name, engine) for name, found in self.zoo.items() for engine, one in found.items() if one.stamp in unknown
        }

    def outcome(self, creature: str, engine: str) -> Outcome | None:
        """Say what an engine made of a creature when it was last asked."""
        judged = self.zoo.get(creature, {}).get(engine)
        return None if judged is None else judged.outcome

    def killers(self, creature: str) -> Mapping[str, Outcome]:
        """List the engines that killed a creature."""
        found = self.zoo.get(creature, {})
        return {name: one.outcome for name, one in found.items() if one.outcome.killed}


def read(place: Path = PLACE) -> Evidence:
    """Read what was measured; where there is no file, nothing was."""
    return msgspec.json.decode(place.read_bytes(), type=Evidence) if place.exists() else Evidence()


def write(evidence: Evidence, place: Path = PLACE) -> None:
    """Write what was measured, so that a change of one line is a change of one line. Stamps of nothing are left out."""
    _leave_out_stamps(evidence)
    content = msgspec.json.format(msgspec.json.encode(evidence, order="sorted"), indent=1) + b"\n"
    passing = place.with_suffix(".new")
    passing.write_bytes(content)
    passing.replace(place)


def _leave_out_stamps(evidence: Evidence) -> None:
    measures = [one for one in (evidence.coverage, evidence.transitions) if one]
    judged = [one for found in evidence.zoo.values() for one in found.values()]
    used = sorted({one.stamp for one in judged} | {one["stamp"] for one in measures})
    number = {old: new for new, old in enumerate(used)}
    evidence.stamps = [evidence.stamps[old] for old in used]
    for one in judged:
        one.stamp = number[one.stamp]
    for measure in measures:
        measure["stamp"] = number[measure["stamp"]]


def here() -> Stamp:
    """Say where and when this is."""
    return Stamp(commit=_commit(), date=datetime.now(UTC).strftime("%Y-%m-%d"), machine=machine())


def machine() -> str:
    """Name this machine as far as it matters: system, processor, number of cores, Python."""
    python = platform.python_version()
    return f"{platform.system()} {platform.machine()}, {_processor()}, {cores()} cores, Python {python}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )


def is_in_history(commit: str) -> bool:
    """Say whether a commit is one that led to this tree."""
    asked = ["git", "merge-base", "--is-ancestor", commit, "HEAD"]
    try:
        return subprocess.run(asked, cwd=PLACE.parent.resolve(), capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _commit() -> str:
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(asked, cwd=PLACE.parent.resolve(), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return f"farref {__version__}"
    return done.stdout.strip()
