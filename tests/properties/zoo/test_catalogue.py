"""The catalogue of the zoo: every creature says what it breaks, where it comes from, and what must catch it."""

from __future__ import annotations

import pytest

from farref.clauses import clauses
from farref.properties.autograd.claims import CLAIMS as AUTOGRAD_CLAIMS
from farref.properties.conformance.findings.catalogue import read_findings
from farref.properties.conformance.kit.suite import gathered
from farref.properties.rref.claims import CLAIMS as RREF_CLAIMS
from farref.properties.zoo.backends.wrong import WrongBackend
from farref.properties.zoo.catalogue import (
    AUTOGRAD_MUTANTS,
    CATALOGUE,
    CRASH_MUTANTS,
    HISTORY_MUTANTS,
    RREF_MUTANTS,
    SHELL_MUTANTS,
    STORM_MUTANTS,
    WRONG_BACKENDS,
    everybody,
)
from farref.properties.zoo.creature import CLAUSE, MACHINERY, PYTORCH, REVIEW, Creature
from farref.properties.zoo.mutants.history import SOURCES
from farref.properties.zoo.mutants.mutant import Mutant
from farref.properties.zoo.survivors import ARGUMENTS

DEFECTS = {PYTORCH + one for one in (*(found.id for found in read_findings()), *RREF_CLAIMS, *AUTOGRAD_CLAIMS)}
MUTANTS = [one for one in CATALOGUE.values() if isinstance(one, Mutant)]

each_creature = pytest.mark.parametrize("creature", CATALOGUE.values(), ids=CATALOGUE)


def test_there_are_enough_of_each_kind_and_no_name_is_given_twice() -> None:
    kinds = (RREF_MUTANTS, AUTOGRAD_MUTANTS, WRONG_BACKENDS)
    assert all(len(kind) >= 15 for kind in kinds)
    assert len(STORM_MUTANTS) >= 10
    assert len(CRASH_MUTANTS) >= 10
    others = (STORM_MUTANTS, CRASH_MUTANTS, HISTORY_MUTANTS, SHELL_MUTANTS)
    assert len(CATALOGUE) == sum(map(len, (*kinds, *others)))


@each_creature
def test_it_says_what_is_wrong_with_it(creature: Creature) -> None:
    assert CATALOGUE[creature.name] is creature
    assert creature.says[0].isupper()
    assert creature.says.endswith(".")


@each_creature
def test_it_breaks_a_clause_that_exists(creature: Creature) -> None:
    assert creature.clause in clauses()


@each_creature
def test_it_says_where_it_comes_from(creature: Creature) -> None:
    assert creature.origin in {CLAUSE, REVIEW, *DEFECTS, *SOURCES}


@each_creature
def test_what_must_catch_it_exists(creature: Creature) -> None:
    assert creature.caught_by
    assert set(creature.caught_by) <= {*MACHINERY, *gathered()}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_what_it_replaces_is_there(mutant: Mutant) -> None:
    """Otherwise it could not be let loose, and that is not what should kill it."""
    assert mutant.handler in mutant.place.__dict__


@pytest.mark.parametrize("creature", WRONG_BACKENDS.values(), ids=WRONG_BACKENDS)
def test_what_must_catch_it_is_asked(creature: WrongBackend) -> None:
    asked = {one.id for one in gathered().values() if {one.id, one.clause} & set(creature.asked)}
    assert {*creature.caught_by, *creature.blocked} <= asked


@pytest.mark.parametrize("system", ["PyTorch #", "Ray #", "Java RMI "])
def test_the_history_of_others_is_told_with_its_address(system: str) -> None:
    assert [one.origin for one in HISTORY_MUTANTS.values() if one.origin.startswith(system)]
    assert {one.origin for one in HISTORY_MUTANTS.values()} == set(SOURCES)
    assert all(address.startswith("https://") for address in SOURCES.values())


def test_everybody_breaks_a_clause_that_exists_and_has_a_name_of_its_own() -> None:
    found = everybody()
    assert len(found) >= 500
    assert all(name == one.name and one.clause in clauses() and one.says and one.origin for name, one in found.items())


def test_an_argument_is_about_somebody() -> None:
    assert set(ARGUMENTS) <= set(everybody())
    assert all(text.endswith(".") for text in ARGUMENTS.values())
