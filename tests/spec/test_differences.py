"""The differences from PyTorch: every rule has its row, every defect its run, and the runs written down happen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from farref.model.checker.interface import Kind
from farref.model.rref import rules
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from tests.markdown import rows
from tests.model.rref.play import Play
from tests.properties.rref.known import shortest

DIFFERENCES: Final = (Path(__file__).parents[2] / "spec" / "differences.md").read_text("utf-8")
HEADED: Final = re.split(
    r"^### (\w+)\. .+$", re.split(r"^## What PyTorch leaves", DIFFERENCES, flags=re.MULTILINE)[0], flags=re.MULTILINE
)
DEFECTS: Final = dict(zip(HEADED[1::2], HEADED[2::2], strict=True))
NOT_MODELLED: Final = {"N3", "N8", "N11", "N12", "N13", "N14", "N16"}
RUN: Final = re.compile(r"in `(workers=[^`]*)`(?:, breaks (\w+))?[^:]*:\n\n((?:\d+\. `.*\n(?:   .*\n)*)+)")


def test_every_rule_is_in_the_table_of_differences() -> None:
    table = rows(re.split(r"^## ", DIFFERENCES, flags=re.MULTILINE)[1])
    assert list(table) == [rule for rule in rules.RULES if rule not in rules.OF_MEMBERS]
    for rule, cells in table.items():
        assert cells[:2] == [rules.SOUND.clause_of(rule), "on" if getattr(rules.TORCH, rule) else "off"], rule


def test_every_defect_is_a_claim_or_says_why_not() -> None:
    assert DEFECTS.keys() == CLAIMS.keys() | NOT_MODELLED
    assert all("Not modelled" in DEFECTS[name] for name in NOT_MODELLED)


def _bounds(text: str) -> Bounds:
    pairs = (pair.split("=") for pair in text.split(", "))
    values: dict[str, Any] = {
        name: value == "True" if value in ("True", "False") else int(value) for name, value in pairs
    }
    return Bounds(**values)


@dataclass(frozen=True)
class Written:
    """One run as it is written in the differences."""

    defect: str
    bounds: Bounds
    breaks: str  # the id of a property, empty for the claim itself
    labels: tuple[str, ...]


WRITTEN: Final = [
    Written(name, _bounds(bounds), breaks, tuple(re.findall(r"^\d+\. `(.+?)`", steps, flags=re.MULTILINE)))
    for name, text in DEFECTS.items()
    for bounds, breaks, steps in RUN.findall(text)
]


def test_no_run_is_overlooked() -> None:
    assert len(WRITTEN) == len(re.findall(r"^1\. `", DIFFERENCES, flags=re.MULTILINE))


def test_every_claim_is_written_with_a_run() -> None:
    assert {run.defect for run in WRITTEN if not run.breaks} == CLAIMS.keys()


@pytest.mark.parametrize("run", WRITTEN, ids=lambda run: f"{run.defect} {run.breaks}".strip())
def test_written_run_breaks_what_it_says(run: Written) -> None:
    claim = CLAIMS[run.defect]
    play = Play(run.bounds, rules.TORCH)(*run.labels)
    broken = {one.id: one for one in rref_properties(run.bounds)}[run.breaks] if run.breaks else claim.property
    if broken.kind is Kind.EVENTUALLY:
        assert play.enabled() == [], "the run has not ended"
    assert not all(case.holds(play.world) for case in broken.cases)


@pytest.mark.parametrize("run", [run for run in WRITTEN if not run.breaks], ids=lambda run: run.defect)
def test_written_run_is_a_shortest_one(run: Written) -> None:
    claim = CLAIMS[run.defect]
    assert run.bounds == claim.bounds
    assert len(run.labels) == len(shortest(claim).actions)
