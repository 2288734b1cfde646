"""The failures that are expected of PyTorch: each is about a check there is, and its link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from farref.properties.conformance.findings.catalogue import read_findings
from farref.properties.conformance.kit.expectations import read
from farref.properties.conformance.kit.named import EXPECTATIONS, NAMED
from farref.properties.conformance.kit.suite import gathered

FILES = sorted({named.expectations for named in NAMED.values() if named.expectations})
UPSTREAM = re.compile(r"https://github\.com/pytorch/pytorch/issues/\d+")


def headings() -> set[str]:
    """The anchors of `spec/findings.md`, which is written from the findings."""
    lines = [f"{one.id}. {one.title}" for one in read_findings()]
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("name", FILES)
def test_each_expectation_is_about_a_check_and_leads_somewhere(name: str) -> None:
    for expectation in read(Path(EXPECTATIONS, name), gathered()).values():
        page, _, anchor = expectation.link.partition("#")
        assert UPSTREAM.fullmatch(expectation.link) or (page == "spec/findings.md" and anchor in headings()), (
            expectation
        )


def test_what_fails_over_tensorpipe_fails_over_the_faulty_agent_too() -> None:
    plain, faulty = (
        read(Path(EXPECTATIONS, name), gathered()) for name in ("torch-2.13.toml", "torch-faulty-2.13.toml")
    )
    assert {check: plain[check] for check in plain} == {check: faulty[check] for check in plain}
    needs = {check: gathered()[check].needs for check in faulty if check not in plain}
    assert needs
    assert all(any(one.startswith("fault.") for one in needed) for needed in needs.values())
