"""A defect has one title, on every page that tells of it, and the pages say how many there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from farref.properties.conformance.findings.catalogue import Finding, read_findings
from farref.properties.protocols import PROTOCOLS

SPEC: Final = Path(__file__).parents[2] / "spec"
HEADING: Final = re.compile(r"^##+ ([NFD]\d+b?)\. (.+)$", re.MULTILINE)
CLAIMS: Final = {claim.id: claim for about in PROTOCOLS.values() for claim in about.claims.values()}


def headings(page: str) -> dict[str, str]:
    """Give the titles of the defects on a page of the spec."""
    return dict(HEADING.findall((SPEC / page).read_text("utf-8")))


HEADINGS: Final = {**headings("differences.md"), **headings("autograd.md")}


def as_heading(title: str) -> str:
    return title if title.startswith("confirmed_by_owner()") else f"{title[0].upper()}{title[1:]}"


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_headed_as_it_is_called(name: str) -> None:
    assert HEADINGS[name] == as_heading(CLAIMS[name].title)


@pytest.mark.parametrize("finding", [one for one in read_findings() if one.id in HEADINGS], ids=lambda one: one.id)
def test_a_finding_is_called_as_its_defect(finding: Finding) -> None:
    assert HEADINGS[finding.id] == as_heading(finding.title)


@pytest.mark.parametrize("page", ["README.md", "differences.md"])
def test_the_last_defect_is_named(page: str) -> None:
    last = max(int(name[1:]) for name in HEADINGS if re.fullmatch(r"N\d+", name))
    assert re.findall(r"N1 to N(\d+)", (SPEC / page).read_text("utf-8")) == [str(last)]


@pytest.mark.parametrize("name", CLAIMS)
def test_what_must_hold_is_a_sentence_and_not_the_defect(name: str) -> None:
    assert re.fullmatch(r"[A-Z`].+\.", CLAIMS[name].must_hold())
    assert CLAIMS[name].must_hold() != as_heading(CLAIMS[name].title)
