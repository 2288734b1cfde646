"""`farref conform -o FILE.svg` and `--badge FILE.svg`: what a backend comes to, as pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result

from farref.properties.conformance.kit.document import Level, Row, Verdict
from farref.rendering.conformance.badge import in_short, to_badge
from farref.rendering.conformance.picture import asked, look_of, to_svg
from tests.farref.conformance import EVERY, TOY, WRONG, report, row

Farref = Callable[..., Result]
TEXT = "{http://www.w3.org/2000/svg}text"


def texts(drawing: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(drawing).iter(TEXT)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((row("R1", Verdict.PASS), row("R2", Verdict.SKIPPED)), "1 kept"),
        ((row("R1", Verdict.PASS), row("R2", Verdict.FAIL)), "1 of 2 broken"),
        ((row("R1", Verdict.PASS), row("R2", Verdict.EXPECTED_FAIL)), "1 of 2 broken"),
        ((row("R1", Verdict.PASS), row("R2", Verdict.FAIL, Level.MAY)), "2 kept"),
        ((row("R1", Verdict.PASS), row("R2", Verdict.UNEXPECTED_PASS)), "out of date"),
        ((row("R1", Verdict.PASS), row("R2", Verdict.ERROR)), "not decided"),
        ((row("R1", Verdict.PASS), row("R2", Verdict.UNTESTED)), "incomplete"),
        ((row("R1", Verdict.SKIPPED),), "nothing checked"),
    ],
)
def test_a_badge_says_what_the_report_comes_to(rows: tuple[Row, ...], words: str) -> None:
    assert in_short(report(*rows))[0] == words
    assert texts(to_badge(report(*rows))) == ["farref", words]


def test_a_badge_is_written_beside_a_report(farref: Farref, tmp_path: Path) -> None:
    badge = tmp_path / "badge.svg"
    result = farref("conform", "--backend", WRONG, "--only", "R16", "--runs", "1", "--quiet", "--badge", str(badge))
    assert result.exit_code == 1
    assert "broken" in texts(badge.read_text())[1]
    assert f"the badge was written to {badge}" in result.stderr
    assert "DOES NOT CONFORM" in result.stdout


def test_a_badge_is_of_one_backend(farref: Farref, tmp_path: Path) -> None:
    badge = tmp_path / "badge.svg"
    result = farref("conform", "--backend", TOY, "--backend", WRONG, "--badge", str(badge))
    assert result.exit_code == 2
    assert "a badge is of one backend" in result.stderr
    assert not badge.exists()


def test_the_matrix_as_a_picture(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "matrix.svg"
    asked_for = ("--only", "R16", "--only", "R20", "--runs", "1", "--quiet")
    assert farref("conform", "--backend", TOY, "--backend", WRONG, *asked_for, "-o", str(path)).exit_code == 1
    said = texts(path.read_text())
    assert {"R16", "R20", "toy 1.0", "✗", "broken", "kept"} <= set(said)


def test_a_picture_shows_clauses_that_somebody_was_asked_about() -> None:
    rows = row("R1", Verdict.SKIPPED), row("R2", Verdict.PASS), row("R2.more", Verdict.SKIPPED)
    assert asked([report(*rows)]) == ["R2"]
    assert look_of([Verdict.SKIPPED, Verdict.PASS]).meaning == "kept"
    assert look_of([Verdict.PASS, Verdict.BY_DESIGN]).meaning == "broken by design"
    assert look_of([Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN]).meaning == "broken"
    assert ElementTree.fromstring(to_svg([EVERY])) is not None
