"""The clauses about threads, and what they name: properties, rules and functions of the model."""

from __future__ import annotations

import importlib

import pytest

from farref.clauses import Clause, clauses
from farref.model.threads.rules import RULES, ThreadRules
from farref.properties.threads.always import thread_properties
from farref.properties.threads.subject import THREADS

CLAUSES = {name: clause for name, clause in clauses().items() if clause.subject == "threads"}
PROPERTIES = {one.id: one for one in thread_properties(THREADS.broadest)}


def test_clauses_are_numbered_without_gaps() -> None:
    assert list(CLAUSES) == [f"H{number}" for number in range(1, len(CLAUSES) + 1)]


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=list(CLAUSES))
def test_a_clause_has_a_rule_and_a_reason_and_names_what_exists(clause: Clause) -> None:
    assert clause.text.startswith("**Rule.** ")
    assert "\n**Why.** " in clause.text
    assert set(clause.rules) == {rule for rule in RULES if ThreadRules.clause_of(rule) == clause.id}
    assert set(clause.properties) == {one.id for one in PROPERTIES.values() if one.clause == clause.id}
    for name in clause.model:
        module, _, attribute = name.partition(".")
        assert hasattr(importlib.import_module(f"farref.model.threads.{module}"), attribute), name


def test_every_property_and_rule_has_a_clause() -> None:
    assert {one.clause for one in PROPERTIES.values()} | {ThreadRules.clause_of(rule) for rule in RULES} == set(CLAUSES)
