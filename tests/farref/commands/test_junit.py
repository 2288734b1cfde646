"""What `farref check` and `farref fuzz` write for build servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from click.testing import Result

from farref.properties.zoo.catalogue import RREF_MUTANTS

Farref = Callable[..., Result]
SMALL = ("--workers", "2", "--forks", "1")


@pytest.fixture
def suite(farref: Farref, tmp_path: Path) -> Callable[..., tuple[Result, Element]]:
    """Run a command, and read the suite that it wrote."""

    def run(*words: str) -> tuple[Result, Element]:
        path = tmp_path / "report.xml"
        result = farref(*words, "--quiet", "--junit", str(path))
        assert f"farref: the JUnit report was written to {path}\n" in result.stderr
        [found] = ElementTree.fromstring(path.read_bytes())
        return result, found

    return run


Suite = Callable[..., tuple[Result, Element]]


def outcomes(suite: Element) -> dict[str, str]:
    """Give what became of each case that did not pass."""
    return {str(case.get("name")): case[0].tag for case in suite.iter("testcase") if len(case)}


def test_what_holds_is_passed(suite: Suite) -> None:
    result, found = suite("check", "rref", *SMALL)
    assert (result.exit_code, found.get("name"), found.get("failures"), found.get("errors")) == (
        0,
        "rref sound",
        "0",
        "0",
    )
    assert set(outcomes(found).values()) <= {"skipped"}, "what one small world does not reach"
    assert {"P1", "P10", "G1"} <= {case.get("name") for case in found.iter("testcase")}


def test_a_violation_is_a_failure_with_its_story(suite: Suite) -> None:
    result, found = suite("check", "rref", "--profile", "torch", "--claim", "F1")
    assert (result.exit_code, outcomes(found)) == (1, {"F1": "failure"})
    [failure] = found.iter("failure")
    assert str(failure.get("message")).startswith("violated (clause R10): ")
    assert "1. A asks B to run a function" in str(failure.text)
    assert "See it again: farref check rref --profile torch --claim F1" in str(failure.text)


def test_what_was_not_decided_is_an_error(suite: Suite) -> None:
    result, found = suite("check", "rref", "--workers", "3", "--states-max", "100")
    assert result.exit_code == 4
    assert outcomes(found)["P3"] == "error"


def test_a_table_is_one_case(suite: Suite) -> None:
    result, found = suite("check", "rref", "--each", "rule", *SMALL)
    assert (result.exit_code, outcomes(found)) == (1, {"every rule is necessary": "failure"})


def test_a_campaign_is_one_case(suite: Suite) -> None:
    result, found = suite("fuzz", "rref", "--seed", "7", "--first", "123", "--schedules", "1")
    assert (result.exit_code, found.get("tests"), outcomes(found)) == (0, "1", {})
    result, found = suite("fuzz", "rref", "--schedules", "1")
    assert (result.exit_code, outcomes(found)) == (4, {"model and simulated agree": "error"})


def test_a_disagreement_is_a_failure_with_its_story(suite: Suite) -> None:
    with RREF_MUTANTS["failed_creation_confirms_nobody"].alive():
        result, found = suite("fuzz", "rref", "--seed", "1", "--seconds", "60")
    assert (result.exit_code, outcomes(found)) == (1, {"model and simulated agree": "failure"})
    [failure] = found.iter("failure")
    assert "See it again: farref fuzz rref" in str(failure.text)


@pytest.mark.parametrize(
    "words", [("check", "rref"), ("check", "rref", "--each", "rule"), ("fuzz", "rref")], ids=" ".join
)
def test_a_place_that_cannot_be_written_is_refused_at_once(farref: Farref, words: tuple[str, ...]) -> None:
    result = farref(*words, "--junit", "no/such/folder/report.xml")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
