"""What `farref conform` knows of the backends that it knows by name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from farref.judging.plan import all_checks, finding_scripts, other_scripts
from farref.properties.conformance.adapters.processes.adapter import Adapter as Processes
from farref.properties.conformance.adapters.simulated.adapter import Adapter as Simulated
from farref.properties.conformance.findings.catalogue import read_findings, read_others
from farref.properties.conformance.kit import expectations
from farref.properties.conformance.kit.backend import VERBS
from farref.properties.conformance.kit.document import Verdict
from farref.properties.conformance.kit.named import NAMED, target
from farref.properties.conformance.kit.steps import STEPS
from tests.farref.conformance import row

OURS = {"simulated": Simulated, "processes": Processes}
WITH_EXPECTATIONS = [name for name, one in NAMED.items() if one.expectations]


@pytest.mark.parametrize("name", OURS)
def test_our_own_declare_what_they_can_do_and_say_why_not_of_the_rest(name: str) -> None:
    adapter: Any = OURS[name]
    steps = STEPS if "lockstep" in adapter.capabilities else ()
    declared = [verb for verb in VERBS if verb in adapter.capabilities]
    made = adapter()  # some verbs are made when it is
    assert [verb for verb in (*declared, *steps) if not hasattr(made, verb)] == []
    assert not set(adapter.reasons) & adapter.capabilities


@pytest.mark.parametrize("name", WITH_EXPECTATIONS)
def test_shipped_expectations_are_about_checks_and_findings(name: str) -> None:
    path = target(name).expectations
    assert path is not None
    findings = "|".join(one.id for one in (*read_findings(), *read_others()))
    for one in expectations.read(path, [check.id for check in all_checks()]).values():
        assert "://" in one.link or re.match(rf"spec/findings\.md#({findings})-", one.link, re.IGNORECASE), one.link


def test_a_failure_of_pytorch_comes_with_the_program_of_its_finding() -> None:
    known = row("R21", Verdict.EXPECTED_FAIL, link="spec/findings.md#n1b-two-owner-entries-without-a-third-worker")
    assert [one.name for one in finding_scripts(known)] == ["n1b_without_third_worker.py"]


def test_a_failure_of_another_system_comes_with_the_program_of_its_finding() -> None:
    known = row("R2.owners", Verdict.EXPECTED_FAIL, link="spec/findings.md#p1-values-of-two-forked-owners-are-mixed-up")
    meant = row("R39", Verdict.BY_DESIGN, link="https://github.com/ray-project/ray/pull/63560")
    assert [one.name for one in other_scripts(known)] == ["rpyc_two_owners.py"]
    assert [one.name for one in other_scripts(meant)] == ["ray_heir_loses_object.py"]
    assert other_scripts(row("R2.owners", Verdict.FAIL, link=None)) == ()


def test_a_failure_that_nobody_expected_comes_with_all_about_its_clause() -> None:
    names = {one.name for one in finding_scripts(row("R21.self", Verdict.FAIL, link=None))}
    assert {"n1_two_owners.py", "n1b_without_third_worker.py"} <= names
