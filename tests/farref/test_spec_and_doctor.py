"""`farref spec` and `farref doctor`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from farref import doctor
from farref.clauses import clause_list, mentions
from farref.model.rules import RULES, clause_of

Farref = Callable[..., Result]


def test_the_list_has_every_clause(farref: Farref) -> None:
    result = farref("spec")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == [clause.id for clause in clause_list()]


def test_a_clause_comes_with_what_cites_it(farref: Farref) -> None:
    result = farref("spec", "r21")
    assert result.exit_code == 0
    assert result.stdout.startswith("### R21. ")
    for cited in ("P2", "entry_waits_for_creation", "model/owner.py:_settle", "RRef.tla:"):
        assert cited in result.stdout


def test_a_clause_as_json(farref: Farref) -> None:
    [clause] = json.loads(farref("spec", "R7", "--format", "json").stdout)
    assert (clause["id"], clause["rules"]) == ("R7", ["processes_once"])


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_its_clause(rule: str) -> None:
    [clause] = [clause for clause in clause_list() if clause.id == clause_of(rule)]
    assert rule in clause.rules


def test_ranges_are_mentions() -> None:
    assert mentions("see R4 to R6, and R9; not R2D2") == {"R4", "R5", "R6", "R9"}


def test_doctor_finds_what_tests_need(farref: Farref) -> None:
    result = farref("doctor", "--format", "json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["fit"]
    assert {"Python", "numpy", "Java", "TLC", "torch", "memory"} <= {one["name"] for one in answer["findings"]}
    assert "farref works here" in farref("doctor").stdout


def test_doctor_says_what_is_lost(farref: Farref, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(doctor, "BASE", ("numpy", "no-such-package"))
    result = farref("doctor")
    assert result.exit_code == 3
    assert "--engine tlc does not run" in result.stdout
    assert "farref does not work here" in result.stdout
