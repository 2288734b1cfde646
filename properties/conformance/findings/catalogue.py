"""What was found in PyTorch: `findings.toml` says what each finding is, `findings-2.13.json` how often it showed.

`others.toml` and `others.json` are the same for other systems.
"""

from __future__ import annotations

import tomllib
from enum import Enum
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import msgspec

HERE: Final = files("farref.properties.conformance.findings")
FIGURES: Final = "findings-2.13.json"
OTHERS: Final = "others.json"


class Recorded(Enum):
    """How a finding behaved when it was written down: what `make findings` expects."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"  # a program looks for it, and has not found it
    UNTRIED = "untried"  # there is no program


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One finding: what goes wrong against which clause, why, and the program that shows it."""

    id: str
    title: str
    clause: str
    recorded: Recorded
    symptom: str
    cause: str
    claims: tuple[str, ...] = ()  # of the model, where it can express the finding
    script: str | None = None
    tried: str | None = None  # for what does not show: what was done to see it
    upstream: str | None = None
    system: str = "PyTorch"
    by_design: str | None = None  # where those who make the system say that it is meant so
    also_reported_as: tuple[str, ...] = ()  # open issues and pull requests of others about the same


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the runs of one program came to."""

    id: str
    runs: int
    reproduced: int
    failed: int  # runs in which the experiment could not be carried out
    seconds: float  # of the run in the middle
    last: str  # what the last run said at its end


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What all programs came to, and with which PyTorch, or which versions of other systems."""

    torch: str = ""
    findings: tuple[Figure, ...] = ()
    versions: dict[str, str] = {}

    def of(self, finding: Finding) -> Figure | None:
        """Give the figures of a finding, if its program was run."""
        return next((figure for figure in self.findings if figure.id == finding.id), None)


@cache
def read_findings() -> tuple[Finding, ...]:
    """Read what was found, in the order of the table."""
    table = tomllib.loads(HERE.joinpath("findings.toml").read_text("utf-8"))
    return msgspec.convert(table["finding"], tuple[Finding, ...])


@cache
def read_others() -> tuple[Finding, ...]:
    """Read what was found in other systems: first what needs no fault and no timing."""
    table = tomllib.loads(HERE.joinpath("others.toml").read_text("utf-8"))
    return msgspec.convert(table["finding"], tuple[Finding, ...])


def read_figures(path: Path | None = None) -> Figures:
    """Read the figures of the last run that was kept."""
    text = HERE.joinpath(FIGURES).read_bytes() if path is None else path.read_bytes()
    return msgspec.json.decode(text, type=Figures)


def script_of(finding: Finding) -> Path:
    """Find the program of a finding."""
    assert finding.script is not None, f"{finding.id} has no program"
    with as_file(HERE.joinpath("scripts", finding.script)) as path:
        return path


def is_as_recorded(finding: Finding, figure: Figure) -> bool:
    """Say whether a program still behaves as was written down; a run that says nothing is no run."""
    if figure.failed or not figure.runs:
        return False
    match finding.recorded:
        case Recorded.ALWAYS:
            return figure.reproduced == figure.runs
        case Recorded.SOMETIMES:
            return figure.reproduced > 0
        case Recorded.NEVER | Recorded.UNTRIED:
            return figure.reproduced == 0
