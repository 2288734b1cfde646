"""The reports for PyTorch can be filed as they are: each has all its parts, its program, and names the code that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from farref.properties.conformance.findings.catalogue import Recorded, is_as_recorded, read_figures, read_findings
from tests.pages.upstream import REPORTS, reports

PARTS = ["To reproduce", "Expected", "Actual", "Cause", "Proposed fix", "Related"]
OURS = re.compile(r"\b(?:[NDFRAP]\d+[a-z]?|clause|ledger|farref)\b")
"""Words that nobody knows who does not know this project."""

each = pytest.mark.parametrize("path", reports(), ids=lambda one: one.stem)


def prose(path: Path) -> str:
    """Give a report without its program, and without issues of PyTorch."""
    return re.sub(
        r"<!-- .*? -->|#\d+|^```.*?^```$|<summary>.*?</summary>", "", path.read_text(), flags=re.MULTILINE | re.DOTALL
    )


@each
def test_a_report_has_its_parts_in_order(path: Path) -> None:
    title, *lines = path.read_text().splitlines()
    assert re.match(r"# \[.+\] ", title)
    assert [one.removeprefix("## ") for one in lines if one.startswith("## ")] == PARTS
    assert "PyTorch 2.13.0" in lines[1]


@each
def test_it_names_the_file_that_is_wrong(path: Path) -> None:
    cause = path.read_text().partition("## Cause")[2].partition("## Proposed fix")[0]
    assert re.search(r"torch/[\w/]+\.(?:cpp|h|py)", cause)


@each
def test_it_can_be_read_without_this_project(path: Path) -> None:
    assert OURS.findall(prose(path)) == []


@each
def test_its_program_shows_what_it_says(path: Path) -> None:
    (name,) = re.findall(r"<!-- program of ([\w-]+) -->", path.read_text())
    finding = next(one for one in read_findings() if one.id == name)
    figure = read_figures().of(finding)
    assert figure is not None
    assert finding.recorded is Recorded.ALWAYS
    assert is_as_recorded(finding, figure)


def test_all_are_listed_with_their_titles() -> None:
    listed = dict(re.findall(r"^\d+\. \[(.*)\]\((.*?)\)$", (REPORTS / "README.md").read_text(), flags=re.MULTILINE))
    assert listed == {one.read_text().partition("\n")[0].removeprefix("# "): one.name for one in reports()}
