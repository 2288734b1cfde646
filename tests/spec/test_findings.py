"""The ledger of findings: no name in it leads nowhere, its programs are plain, and its figures are as recorded."""

from __future__ import annotations

import ast
import sys
import time
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import msgspec
import pytest
from click.testing import CliRunner

from farref.clauses import clauses, defects
from farref.properties.conformance.findings import catalogue
from farref.properties.conformance.findings import run as ledger
from farref.properties.conformance.findings.catalogue import (
    Figure,
    Figures,
    Finding,
    Recorded,
    is_as_recorded,
)
from farref.properties.conformance.findings.run import ProgramRun, Reproduction
from farref.properties.protocols import PROTOCOLS

ROOT: Final = Path(__file__).parents[2]
FINDINGS: Final = catalogue.read_findings()
FIGURES: Final = catalogue.read_figures()
SHOWN: Final = [finding for finding in FINDINGS if finding.script is not None]
TAIL: Final = "# -- The same in every script of this folder"

each_finding = pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.id)
each_program = pytest.mark.parametrize("finding", SHOWN, ids=lambda finding: finding.id)


# -- what is named exists ----------------------------------------------------------------------------------------------


def test_ids_are_used_once() -> None:
    assert len({finding.id for finding in FINDINGS}) == len(FINDINGS)


@each_finding
def test_clause_exists(finding: Finding) -> None:
    assert finding.clause in clauses()


def test_every_claim_of_the_model_has_a_finding_and_no_other_is_named() -> None:
    named = [claim for finding in FINDINGS for claim in finding.claims]
    assert sorted(named) == sorted(claim for about in PROTOCOLS.values() for claim in about.claims)


def test_every_known_defect_has_a_finding() -> None:
    assert set(defects()) <= {finding.id for finding in FINDINGS}


def test_every_program_belongs_to_a_finding() -> None:
    scripts = (ROOT / "properties/conformance/findings/scripts").glob("*/*.py")
    there = {f"{path.parent.name}/{path.name}" for path in scripts if path.name != "__init__.py"}
    others = {finding.script for finding in catalogue.read_others() if str(finding.script).endswith(".py")}
    assert there == {finding.script for finding in SHOWN} | others


@each_finding
def test_what_does_not_show_says_what_was_tried(finding: Finding) -> None:
    assert bool(finding.tried) == (finding.recorded in (Recorded.NEVER, Recorded.UNTRIED))
    assert (finding.script is None) == (finding.recorded is Recorded.UNTRIED)


def test_tables_are_shipped() -> None:
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    assert {"*.toml", "*.json"} <= set(shipped["farref.properties.conformance.findings"])


# -- the programs ------------------------------------------------------------------------------------------------------


def imported(source: str) -> set[str]:
    """List the packages that a program imports; a relative import is a dot."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
    return found


@each_program
def test_program_needs_pytorch_and_nothing_of_ours(finding: Finding) -> None:
    assert imported(catalogue.script_of(finding).read_text()) <= {"torch", *sys.stdlib_module_names}


def test_an_import_of_ours_is_seen() -> None:
    assert imported("def f():\n    from farref.model import ids\n    from . import x") == {"farref", "."}


@each_program
def test_program_says_what_happens(finding: Finding) -> None:
    said = " ".join((ast.get_docstring(ast.parse(catalogue.script_of(finding).read_text())) or "").split())
    assert " should " in said or " design note " in said
    assert "PyTorch 2.13.0" in said


def test_programs_are_started_and_ended_in_one_way() -> None:
    tails = {catalogue.script_of(finding).read_text().partition(TAIL)[2].rpartition("sys.exit")[0] for finding in SHOWN}
    assert len(tails) == 1
    assert all(tails)


@pytest.mark.skipif(
    find_spec("torch") is None, reason="PyTorch is not installed; in a checkout: pip install '.[torch]'"
)
def test_N1_shows() -> None:
    run = ledger.run_once(ROOT / "properties/conformance/findings/scripts/rref/n1_two_owners.py")
    assert run.outcome is Reproduction.REPRODUCED, run.last


# -- the figures -------------------------------------------------------------------------------------------------------


@each_program
def test_figures_are_of_five_runs_and_as_recorded(finding: Finding) -> None:
    figure = FIGURES.of(finding)
    assert figure is not None
    assert figure.runs >= 5
    assert is_as_recorded(finding, figure)


def test_figures_are_of_findings_that_have_a_program() -> None:
    assert [figure.id for figure in FIGURES.findings] == [finding.id for finding in SHOWN]


def test_figures_are_of_the_version_that_is_pinned() -> None:
    (pinned,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["torch"]
    assert FIGURES.torch.partition("+")[0] == pinned.removeprefix("torch==")


# -- the runner --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exit_code", "last", "outcome"),
    [
        (1, "REPRODUCED: it is there", Reproduction.REPRODUCED),
        (0, "NOT REPRODUCED: it is not", Reproduction.NOT_REPRODUCED),
        (2, "NOT REPRODUCED: the experiment could not be carried out", Reproduction.FAILED),
        (0, "REPRODUCED: it is there", Reproduction.FAILED),
        (1, "NOT REPRODUCED: it is not", Reproduction.FAILED),
        (1, "RuntimeError: something else", Reproduction.FAILED),
        (-9, "", Reproduction.FAILED),
    ],
)
def test_exit_code_and_last_line_must_agree(exit_code: int, last: str, outcome: Reproduction) -> None:
    assert ledger.judge(exit_code, last) is outcome


@pytest.mark.parametrize(
    ("recorded", "reproduced", "failed", "expected"),
    [
        (Recorded.ALWAYS, 5, 0, True),
        (Recorded.ALWAYS, 4, 0, False),
        (Recorded.ALWAYS, 4, 1, False),
        (Recorded.SOMETIMES, 1, 0, True),
        (Recorded.SOMETIMES, 0, 0, False),
        (Recorded.NEVER, 0, 0, True),
        (Recorded.NEVER, 1, 0, False),
        (Recorded.NEVER, 0, 5, False),
    ],
)
def test_what_is_recorded_is_held_against_the_runs(
    recorded: Recorded, reproduced: int, failed: int, expected: bool
) -> None:
    finding = msgspec.structs.replace(FINDINGS[0], recorded=recorded)
    assert is_as_recorded(finding, Figure(finding.id, 5, reproduced, failed, 1.0, "")) is expected


def test_a_rate_is_the_runs_that_showed_it() -> None:
    runs = [
        ProgramRun(Reproduction.REPRODUCED, 3.0, "a"),
        ProgramRun(Reproduction.FAILED, 1.0, "b"),
        ProgramRun(Reproduction.NOT_REPRODUCED, 2.0, "c"),
    ]
    assert ledger.add_up(FINDINGS[0], runs) == Figure(FINDINGS[0].id, 3, 1, 1, 2.0, "c")


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that has ended and was not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look for processes in")
def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    script = tmp_path / "hangs.py"
    script.write_text("import os, time\nif child := os.fork():\n    print(child, flush=True)\ntime.sleep(600)\n")
    run = ledger.run_once(script, limit=2)
    assert run.outcome is Reproduction.FAILED
    deadline = time.monotonic() + 10
    while is_alive(int(run.last)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(int(run.last))


def test_figures_of_other_programs_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    first, second, *_ = (Figure(finding.id, 5, 5, 0, 1.0, "") for finding in SHOWN)
    ledger.save(path, Figures("2.13.0", (second,)))
    ledger.save(path, Figures("2.13.0", (first,)))
    assert catalogue.read_figures(path).findings == (first, second)


def test_an_unknown_finding_is_an_error_that_names_those_there_are() -> None:
    result = CliRunner().invoke(ledger.main, ["--only", "N99"])
    assert result.exit_code == 2
    assert "no program shows N99" in result.output
    assert "N1b" in result.output
