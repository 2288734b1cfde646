"""The first steps with a backend of one's own: a skeleton, what to declare next, what is there to compare with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from farref.judging.plan import all_checks
from farref.judging.validate import worth_declaring
from farref.properties.conformance.kit.available import node_package
from farref.properties.conformance.kit.named import NAMED
from tests.farref.conformance import TOY

Farref = Callable[..., Result]


def test_a_skeleton_runs_and_has_everything_skipped(farref: Farref, tmp_path: Path) -> None:
    place = tmp_path / "mine.py"
    begun = farref("conform", "--init", str(place))
    assert begun.exit_code == 0
    assert f"--validate-adapter --backend {place}" in begun.stdout
    valid = farref("conform", "--validate-adapter", "--backend", str(place))
    assert valid.exit_code == 0, valid.output
    assert "No check can be run yet" in valid.stdout
    assert "create, fetch and function.echo" in valid.stdout
    report = farref("conform", "--backend", str(place), "--format", "json", "--quiet")
    assert report.exit_code == 4
    assert json.loads(report.stdout)["summary"]["skipped"] == len(all_checks())


def test_a_skeleton_replaces_nothing(farref: Farref, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("mine")
    result = farref("conform", "--init", str(tmp_path / "mine"))
    assert result.exit_code == 2
    assert "does not replace it" in result.stderr
    assert (tmp_path / "mine.py").read_text() == "mine"


def test_a_name_that_cannot_be_imported_is_refused(farref: Farref, tmp_path: Path) -> None:
    result = farref("conform", "--init", str(tmp_path / "my-adapter"))
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_valid_adapter_is_told_what_to_declare_next(farref: Farref) -> None:
    shown = farref("conform", "--validate-adapter", "--backend", TOY).stdout
    assert "checks can be run" in shown
    assert "implement and declare: probe (" in shown


def test_what_is_worth_most_comes_first() -> None:
    everything = {name for one in all_checks() for name in one.needs}
    assert worth_declaring(frozenset(everything)) == ["nothing; every check can be run"]
    (last,) = worth_declaring(frozenset(everything - {"traced"}))
    assert last.startswith("traced (")


def test_the_backends_that_are_known_are_listed(farref: Farref) -> None:
    listed = json.loads(farref("conform", "--list-backends", "--format", "json").stdout)
    assert [one["backend"] for one in listed] == list(NAMED)
    ours = {one["backend"]: one["missing"] for one in listed}
    assert ours["processes"] is ours["simulated"] is None
    assert all((one["missing"] is None) == (one["install"] is None) for one in listed)
    shown = farref("conform", "--list-backends").stdout
    assert all(name in shown for name in NAMED)


def test_an_npm_package_is_found_as_node_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert node_package("surely-not-there") is None
    package = tmp_path / "node_modules" / "surely-not-there"
    package.mkdir(parents=True)
    (package / "package.json").write_text("{}")
    assert node_package("surely-not-there") == package
    monkeypatch.chdir("/")
    monkeypatch.setenv("NODE_PATH", str(tmp_path / "node_modules"))
    assert node_package("surely-not-there") == package


# -- reports of several machines ------------------------------------------------------------------------------------------


def test_reports_are_put_together_by_backend_and_version(farref: Farref, tmp_path: Path) -> None:
    here, there, again = (tmp_path / f"{name}.json" for name in ("here", "there", "again"))
    farref("conform", "--backend", TOY, "--only", "R20", "-o", str(here), "--quiet")
    farref("conform", "--backend", TOY, "--only", "R16", "-o", str(again), "--quiet")
    saved = json.loads(here.read_text())
    there.write_text(json.dumps({**saved, "backend": "another"}))
    result = farref("conform", "--merge", str(here), str(there), str(again), "--format", "json")
    toy, another = json.loads(result.stdout)["reports"]
    assert (toy["backend"], another["backend"]) == ("toy", "another")
    ids = {row["id"] for row in toy["clauses"]}
    assert {"R16", "R20"} <= ids
    assert "R16" not in {row["id"] for row in another["clauses"]}
    assert sum(toy["summary"].values()) == len(ids)


def test_of_two_reports_the_later_counts(farref: Farref, tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    farref("conform", "--backend", TOY, "--only", "R20", "-o", str(before), "--quiet")
    saved = json.loads(before.read_text())
    for row in saved["clauses"]:
        row["message"] = "later"
    after.write_text(json.dumps(saved))
    merged = json.loads(farref("conform", "--merge", str(before), str(after), "--format", "json").stdout)
    assert {row["message"] for row in merged["clauses"]} == {"later"}
