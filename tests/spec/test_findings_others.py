"""The ledger of what was found in other systems: each finding has a plain program, which was run and behaves as recorded."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from farref.clauses import clauses
from farref.properties.conformance.findings import catalogue, page
from farref.properties.conformance.findings import run as ledger
from farref.properties.conformance.findings.catalogue import Finding, Recorded, is_as_recorded
from farref.properties.conformance.kit.available import Availability
from farref.properties.conformance.kit.named import NAMED
from tests.spec.test_findings import imported

ROOT: Final = Path(__file__).parents[2]
OTHERS: Final = catalogue.read_others()
FIGURES: Final = page.other_figures()
each = pytest.mark.parametrize("finding", OTHERS, ids=lambda finding: finding.id)


def test_ids_are_used_once_in_both_ledgers() -> None:
    ids = [one.id for one in (*OTHERS, *catalogue.read_findings())]
    assert len(ids) == len(set(ids))


@each
def test_what_is_named_exists(finding: Finding) -> None:
    assert finding.clause in clauses()
    assert ledger.BACKENDS.get(finding.system, finding.system) in NAMED
    assert catalogue.script_of(finding).is_file()


def test_every_program_belongs_to_a_finding() -> None:
    scripts = (ROOT / "properties/conformance/findings/scripts/others").iterdir()
    there = {
        f"others/{path.name}" for path in scripts if path.suffix in (".py", ".mjs", ".java") and path.stem != "__init__"
    }
    assert there == {finding.script for finding in OTHERS}


@each
def test_a_program_is_plain_and_says_what_should_be(finding: Finding) -> None:
    text = catalogue.script_of(finding).read_text()
    assert " should " in " ".join(text.split())
    if str(finding.script).endswith(".py"):
        system = finding.system.partition(".")[0].lower()
        assert imported(text) <= {system, *sys.stdlib_module_names}
        assert ast.get_docstring(ast.parse(text))
    else:
        assert "farref" not in text


@each
def test_it_was_seen_in_each_of_five_runs(finding: Finding) -> None:
    figure = FIGURES.of(finding)
    assert figure is not None
    assert figure.runs >= 5
    assert finding.recorded is Recorded.ALWAYS
    assert is_as_recorded(finding, figure), figure
    assert FIGURES.versions[finding.system]


@pytest.mark.parametrize(("script", "program"), [("x.mjs", "node"), ("x.java", "java"), ("x.py", sys.executable)])
def test_a_program_is_run_by_what_understands_it(
    script: str, program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []

    def note(command: list[str], **_how: object) -> None:
        asked.append(command)
        raise FileNotFoundError

    monkeypatch.setattr("subprocess.Popen", note)
    with pytest.raises(FileNotFoundError):
        ledger.run_once(tmp_path / script)
    assert asked == [[program, str(tmp_path / script)]]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the finding is one of Python 3.11")
def test_P5_shows() -> None:
    (finding,) = [one for one in OTHERS if one.id == "P5"]
    done = ledger.run_once(catalogue.script_of(finding))
    assert done.outcome is ledger.Reproduction.REPRODUCED, done.last


def test_what_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = [Availability("rpyc", None, "the Python package rpyc", "pip install rpyc")]
    monkeypatch.setattr("farref.properties.conformance.findings.run.availability", lambda: lost)
    result = CliRunner().invoke(ledger.main, ["--others", "--only", "P1"])
    assert result.exit_code == 2
    assert "P1 is not run: the Python package rpyc is missing" in result.output
