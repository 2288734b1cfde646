"""Every clause of the smaller proofs says something: it excludes a state that no other clause excludes."""

from __future__ import annotations

from typing import Any

import pytest

from farref.properties.proof.autograd.exits_invariant import SUMS
from farref.properties.proof.autograd.passes_invariant import COMMIT
from farref.properties.proof.autograd.release_invariant import FORGET
from farref.properties.proof.induction.theory import Clause, Theorem
from farref.properties.proof.induction.worlds import sizes_of, small_world
from farref.properties.proof.window import ONCE
from tests.properties.proof.asking import SOLVER

CLAUSES = [(theorem, one) for theorem in (COMMIT, SUMS, FORGET, ONCE) for one in theorem.invariant]


@pytest.mark.parametrize(("theorem", "missing"), CLAUSES, ids=[one.id for _, one in CLAUSES])
def test_every_clause_excludes_a_state_that_no_other_one_excludes(theorem: Theorem, missing: Clause[Any]) -> None:
    state = theorem.theory.state
    others = [one.holds(state) for one in theorem.invariant if one is not missing]
    near_miss = [*theorem.theory.axioms, *others, ~missing.holds(state)]
    assert any(small_world(near_miss, theorem.theory, SOLVER, sizes) for sizes in sizes_of(theorem.theory))
