"""`farref conform` as a user meets it: what it runs, what it prints, how it ends."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import Result

from farref.judging.plan import all_checks
from farref.properties.conformance.kit.backend import CAPABILITIES
from tests.farref.conformance import EXPECTED, SPOKEN, TOY, WRONG

Farref = Callable[..., Result]
ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "spec" / "conformance.schema.json").read_text())
SOME = ("--only", "R16", "--only", "R19", "--only", "R20")


@pytest.fixture(scope="module")
def saved(farref: Farref, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a backend with mistakes."""
    path = tmp_path_factory.mktemp("reports") / "wrong.json"
    result = farref("conform", "--backend", WRONG, *SOME, "--expectations", EXPECTED, "--seed", "5", "-o", str(path))
    assert result.exit_code == 1, result.output
    return path


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in report["clauses"]}


# -- what is run --------------------------------------------------------------------------------------------------------


def test_the_checks_are_listed(farref: Farref) -> None:
    shown = farref("conform", "--list").stdout
    listed = json.loads(farref("conform", "--list", "--format", "json").stdout)
    assert len(listed) == len({one["id"] for one in listed}) > 40
    for one in listed:
        assert one["id"] in shown
        assert one["level"] in ("must", "should", "may")
        assert one["says"].endswith((".", "!"))
        assert set(one["needs"]) <= set(CAPABILITIES)


def test_a_backend_that_keeps_all(farref: Farref) -> None:
    result = farref("conform", "--backend", TOY, "--only", "r20", "--format", "json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0, result.stderr
    assert verdicts(report)["R20"] == "pass"
    assert "✓ pass R20 " in result.stderr
    assert (report["backend"], report["version"], report["expectations"]) == ("toy", "1.0", None)
    jsonschema.validate(report, SCHEMA)


def test_quiet_is_quiet(farref: Farref) -> None:
    assert farref("conform", "--backend", TOY, "--only", "R20", "--quiet").stderr == ""


def test_a_clause_is_all_its_checks_and_a_check_is_one(farref: Farref) -> None:
    asked = ("conform", "--backend", TOY, "--format", "json", "--quiet", "--only")
    clause = json.loads(farref(*asked, "R16").stdout)
    check = json.loads(farref(*asked, "R16.pending").stdout)
    assert {"R16", "R16.pending"} < set(verdicts(clause))
    assert set(verdicts(check)) == {"R16.pending"}


def test_ours_in_the_published_schema(farref: Farref) -> None:
    asked = ("--only", "R20", "--only", "A15", "--only", "R24")
    result = farref("conform", "--backend", "processes", *asked, "--format", "json", "--quiet")
    report = json.loads(result.stdout)
    assert result.exit_code == 0, result.output
    jsonschema.validate(report, SCHEMA)
    assert report["summary"]["pass"] >= 3
    needed = {"backend", "version", "seed", "seconds", "summary", "clauses"}
    assert needed <= set(report)
    assert {"id", "level", "verdict", "seconds", "message", "replay"} <= set(report["clauses"][0])


def test_the_schema_refuses_other_things() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"format": "farref-conformance/1", "backend": "x"}, SCHEMA)


def test_several_backends_and_a_command_give_a_matrix(farref: Farref) -> None:
    asked = ("conform", "--backend", TOY, "--backend", WRONG, "--only", "R16", "--quiet", "--runs", "1")
    result = farref(*asked, "--format", "json", "--", *SPOKEN, TOY)
    matrix = json.loads(result.stdout)
    assert result.exit_code == 1
    jsonschema.validate(matrix, SCHEMA)
    assert [one["backend"] for one in matrix["reports"]] == ["toy", "wrong <i>&amp;", "toy"]
    assert [verdicts(one)["R16"] for one in matrix["reports"]] == ["pass", "fail", "pass"]
    assert matrix["reports"][2]["clauses"][0]["replay"].startswith("farref conform --only R16 ")
    assert matrix["reports"][2]["clauses"][0]["replay"].endswith(f"-- {' '.join((*SPOKEN, TOY))}")


def test_what_could_be_declared_is_said_once(farref: Farref) -> None:
    """A small adapter has a hundred checks skipped: that is one line, with what most of them need first."""
    result = farref("conform", "--backend", TOY, "--only", "R20", "--only", "A13")
    assert "skipped" not in result.stderr
    needing = sum("backward" in one.needs for one in all_checks() if one.clause in ("R20", "A13"))
    assert f"not declared, with the checks that need it: backward ({needing}), " in result.stdout


def test_the_time_may_be_over_between_checks(farref: Farref) -> None:
    """What was not begun is not kept. R20.parked waits for two seconds, and R21 comes after it."""
    result = farref("conform", "--backend", TOY, "--only", "R20", "--only", "R21", "--seconds", "1", "--quiet")
    assert result.exit_code == 4
    assert "INCOMPLETE: " in result.stdout
    assert "CONFORMS" not in result.stdout


def test_the_verdict_is_told_beside_a_file(farref: Farref, tmp_path: Path) -> None:
    result = farref("conform", "--backend", TOY, "--only", "R20", "--quiet", "-o", str(tmp_path / "report.html"))
    _, counted, concluded = result.stderr.splitlines()
    assert re.fullmatch(r"farref: toy 1\.0: \d+ pass, \d+ skipped", counted)
    assert concluded == "farref: CONFORMS: every clause that was checked is kept."


def test_the_time_may_be_over(farref: Farref) -> None:
    result = farref("conform", "--backend", TOY, "--only", "R20", "--seconds", "0.000001", "--format", "json")
    report = json.loads(result.stdout)
    assert result.exit_code == 4
    assert "not begun before the run ended: R20" in report["notes"][0]


# -- what is expected ---------------------------------------------------------------------------------------------------


def test_expectations(saved: Path) -> None:
    report = json.loads(saved.read_text())
    assert report["expectations"] == EXPECTED
    assert verdicts(report)["R16"] == "expected-fail"
    assert verdicts(report)["R20"] == "unexpected-pass"
    assert verdicts(report)["R19"] == "fail"


def test_without_expectations(farref: Farref) -> None:
    result = farref("conform", "--backend", WRONG, "--only", "R16", "--expectations", "none", "--format", "json")
    assert verdicts(json.loads(result.stdout))["R16"] == "fail"
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[[expected]]\ncheck = 'R999'\nreason = 'r'\nlink = 'l'", "no check is called that"),
        ("[[expected]]\ncheck = 'R20'\nreason = ''\nlink = 'l'", "without a reason and a link"),
        ("[[expected]]\ncheck = 'R20'\nreason = 'r'", "missing required field"),
        ("nonsense", "not a file of expectations"),
    ],
)
def test_bad_expectations(farref: Farref, tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "expectations.toml"
    path.write_text(content)
    result = farref("conform", "--backend", TOY, "--expectations", str(path))
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1


# -- what is printed ----------------------------------------------------------------------------------------------------


def test_a_failure_is_told(farref: Farref, saved: Path) -> None:
    page = farref("conform", "--from", str(saved))
    assert page.exit_code == 1
    assert "wrong <i>&amp; 1.0" in page.stdout
    assert f"seed 5, expectations: {EXPECTED}" in page.stdout
    assert "R19 ✗ fail (3 of 3): an operation fails that must not: RuntimeError: B has never heard of it" in page.stdout
    assert re.search(r"2 A calls value_of\(x\) on B: fails: .*<-- here", page.stdout)
    assert "The spec:     Sharing with the owner. When a user's fork arrives on the owner" in page.stdout
    assert f"farref conform --backend {WRONG} --only R19 --seed 5 --expectations {EXPECTED}" in page.stdout
    assert "a handle that was shared has another value (https://example.org/issues/16)" in page.stdout
    assert page.stdout.rstrip().endswith("DOES NOT CONFORM")


def test_the_command_that_is_printed_shows_it_again(saved: Path) -> None:
    command = next(row["replay"] for row in json.loads(saved.read_text())["clauses"] if row["id"] == "R19")
    words = command.split()[1:]
    again = subprocess.run(
        [sys.executable, "-m", "farref", *words], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert again.returncode == 1
    assert "B has never heard of it" in again.stdout


def test_every_format_from_a_saved_report(farref: Farref, saved: Path) -> None:
    begins = {"pretty": "wrong", "json": "{", "junit": "<?xml", "html": "<!doctype html>", "markdown": "# Conformance"}
    for form, beginning in begins.items():
        assert farref("conform", "--from", str(saved), "--format", form).stdout.startswith(beginning)


def test_a_saved_report_stays_what_it_is(farref: Farref, saved: Path) -> None:
    assert json.loads(farref("conform", "--from", str(saved), "--format", "json").stdout) == json.loads(
        saved.read_text()
    )


def test_a_format_that_the_name_of_the_file_contradicts_is_refused(farref: Farref, tmp_path: Path) -> None:
    result = farref("conform", "--backend", WRONG, "--format", "json", "-o", str(tmp_path / "report.html"))
    assert result.exit_code == 2
    assert "report.html would be html, and --format says json" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("suffix", "beginning"), [("xml", "<?xml"), ("html", "<!doctype"), ("md", "#"), ("txt", "wrong")]
)
def test_the_format_is_what_the_file_ends_in(
    farref: Farref, saved: Path, tmp_path: Path, suffix: str, beginning: str
) -> None:
    path = tmp_path / f"report.{suffix}"
    result = farref("conform", "--from", str(saved), "-o", str(path))
    assert result.stdout == ""
    assert path.read_text().startswith(beginning)


def test_a_file_is_replaced_as_a_whole(farref: Farref, saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("before")
    path.chmod(0o640)
    assert farref("conform", "--backend", "no.such:Adapter", "-o", str(path)).exit_code == 3
    assert path.read_text() == "before"
    farref("conform", "--from", str(saved), "-o", str(path))
    assert json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_what_was_there(
    farref: Farref, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "report.json"
    path.write_text("before")
    monkeypatch.setattr(os, "replace", full)
    result = farref("conform", "--from", str(saved), "-o", str(path))
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "{}", '{"format": "farref-conformance/1"}', "[1", '{"format": "other"}'])
def test_what_is_no_report(farref: Farref, tmp_path: Path, content: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(content)
    result = farref("conform", "--from", str(path))
    assert result.exit_code == 2
    assert "not a conformance report" in result.stderr
    assert result.stderr.count("\n") == 1
