"""`farref spec` and `farref doctor`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from farref.commands import doctor

Farref = Callable[..., Result]
SPEC = Path(__file__).parents[3] / "spec"


def test_the_list_has_every_clause(farref: Farref) -> None:
    result = farref("spec")
    assert result.exit_code == 0
    lines = [line for name in ("rref.md", "autograd.md") for line in (SPEC / name).read_text().splitlines()]
    headings = [line[4:] for line in lines if line.startswith(("### R", "### A"))]
    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == [
        heading.replace(".", "", 1) for heading in headings
    ]


def test_a_clause_comes_with_what_cites_it(farref: Farref) -> None:
    result = farref("spec", "r21")
    assert result.exit_code == 0
    assert result.stdout.startswith("### R21. ")
    for cited in ("property P2", "--without entry_waits_for_creation", "owner._settle", "Settled"):
        assert cited in result.stdout


def test_a_clause_as_json(farref: Farref) -> None:
    [clause] = json.loads(farref("spec", "R7", "--format", "json").stdout)
    assert (clause["id"], clause["rules"]) == ("R7", ["processes_once"])


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
