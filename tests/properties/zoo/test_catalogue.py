"""The catalogue of the zoo: every creature says what it breaks, where it comes from, and what must catch it."""

from __future__ import annotations

import pytest

from farref.clauses import find_clause
from farref.properties.autograd.claims import CLAIMS as AUTOGRAD_CLAIMS
from farref.properties.conformance.findings.catalogue import read_findings
from farref.properties.conformance.kit.suite import gathered
from farref.properties.rref.claims import CLAIMS as RREF_CLAIMS
from farref.properties.zoo.backends.wrong import WrongBackend
from farref.properties.zoo.catalogue import (
    AUTOGRAD_MUTANTS,
    CATALOGUE,
    CRASH_MUTANTS,
    RREF_MUTANTS,
    STORM_MUTANTS,
    WRONG_BACKENDS,
)
from farref.properties.zoo.creature import CLAUSE, CRASHES, PYTORCH, REVIEW, STORM, TWINS, Creature

DEFECTS = {PYTORCH + one for one in (*(found.id for found in read_findings()), *RREF_CLAIMS, *AUTOGRAD_CLAIMS)}

each_creature = pytest.mark.parametrize("creature", CATALOGUE.values(), ids=CATALOGUE)


def test_there_are_enough_of_each_kind_and_no_name_is_given_twice() -> None:
    kinds = (RREF_MUTANTS, AUTOGRAD_MUTANTS, WRONG_BACKENDS)
    assert all(len(kind) >= 15 for kind in kinds)
    assert len(STORM_MUTANTS) >= 10
    assert len(CRASH_MUTANTS) >= 10
    assert len(CATALOGUE) == sum(map(len, (*kinds, STORM_MUTANTS, CRASH_MUTANTS)))


@each_creature
def test_it_says_what_is_wrong_with_it(creature: Creature) -> None:
    assert CATALOGUE[creature.name] is creature
    assert creature.says[0].isupper()
    assert creature.says.endswith(".")


@each_creature
def test_it_breaks_a_clause_that_exists(creature: Creature) -> None:
    assert find_clause(creature.clause).id == creature.clause


@each_creature
def test_it_says_where_it_comes_from(creature: Creature) -> None:
    assert creature.origin in {CLAUSE, REVIEW, *DEFECTS}


@each_creature
def test_what_must_catch_it_exists(creature: Creature) -> None:
    assert creature.caught_by
    assert set(creature.caught_by) <= {*TWINS.values(), STORM, CRASHES, *gathered()}


@pytest.mark.parametrize("creature", WRONG_BACKENDS.values(), ids=WRONG_BACKENDS)
def test_what_must_catch_it_is_asked(creature: WrongBackend) -> None:
    asked = {one.id for one in gathered().values() if {one.id, one.clause} & set(creature.asked)}
    assert {*creature.caught_by, *creature.blocked} <= asked
