"""The failures that are expected of PyTorch and others: each is about a check there is, and its link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from farref.properties.conformance.findings.catalogue import read_findings, read_others
from farref.properties.conformance.kit.expectations import read
from farref.properties.conformance.kit.named import EXPECTATIONS, NAMED
from farref.properties.conformance.kit.suite import gathered

FILES = sorted({named.expectations for named in NAMED.values() if named.expectations})
UPSTREAM = re.compile(r"https://github\.com/pytorch/pytorch/issues/\d+")


def headings() -> set[str]:
    """The anchors of `spec/findings.md`, which is written from the findings."""
    lines = [f"{one.id}. {one.title}" for one in (*read_findings(), *read_others())]
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def meant() -> set[str]:
    """Where the makers of a system say that something is meant so."""
    return {one.by_design for one in read_others() if one.by_design}


@pytest.mark.parametrize("name", FILES)
def test_each_expectation_is_about_a_check_and_leads_somewhere(name: str) -> None:
    for expectation in read(Path(EXPECTATIONS, name), gathered()).values():
        page, _, anchor = expectation.link.partition("#")
        is_ours = page == "spec/findings.md" and anchor in headings()
        is_theirs = UPSTREAM.fullmatch(expectation.link) or expectation.link in meant()
        assert is_ours or is_theirs, expectation
        assert expectation.by_design == (expectation.link in meant()), "only its makers say what is meant so"


def test_what_fails_over_tensorpipe_fails_over_the_faulty_agent_too() -> None:
    plain, faulty = (
        read(Path(EXPECTATIONS, name), gathered()) for name in ("torch-2.13.toml", "torch-faulty-2.13.toml")
    )
    assert {check: plain[check] for check in plain} == {check: faulty[check] for check in plain}
    needs = {check: gathered()[check].needs for check in faulty if check not in plain}
    assert needs
    assert all(any(one.startswith("fault.") for one in needed) for needed in needs.values())
