"""The checks as a whole: every clause is looked at, or it is said why it cannot be."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from farref.clauses import clauses
from farref.properties.conformance.kit.backend import CAPABILITIES
from farref.properties.conformance.kit.check import BINDS, RENAMED, Check
from farref.properties.conformance.kit.document import Level
from farref.properties.conformance.kit.expectations import read
from farref.properties.conformance.kit.programs import draw, gradients_of
from farref.properties.conformance.kit.suite import chosen, gathered, suite
from farref.properties.conformance.kit.unseen import UNSEEN

CHECKS = suite(list(clauses()))
each = pytest.mark.parametrize("check", CHECKS, ids=lambda one: one.id)


@pytest.mark.parametrize("clause", [one for one in clauses() if one[0] in "RA"])  # H is about threads of one worker
def test_every_clause_is_looked_at_or_it_is_said_why_not(clause: str) -> None:
    looked_at = any(one.clause == clause for one in CHECKS)
    assert looked_at != (clause in UNSEEN), f"{clause} must have a check or an entry in UNSEEN, and not both"


@each
def test_a_check_says_in_a_sentence_what_must_be_so(check: Check) -> None:
    assert re.fullmatch(r"[A-Z`].*\.", check.says), check.says
    assert len(check.says) <= 140


@each
def test_the_level_is_a_word_of_the_clause(check: Check) -> None:
    if check.level is not Level.MUST:
        assert check.level.name in clauses()[check.clause].text


@each
def test_a_level_has_its_reason(check: Check) -> None:
    assert (check.because == BINDS) == (check.level is Level.MUST)


def test_each_level_is_used() -> None:
    assert {one.level for one in CHECKS} == set(Level)


@each
def test_prerequisites_come_first(check: Check) -> None:
    order = [one.id for one in CHECKS]
    assert all(order.index(before) < order.index(check.id) for before in check.after)


def test_the_bare_clause_is_a_check_where_there_is_one() -> None:
    for one in CHECKS:
        assert any(other.id == one.clause for other in CHECKS), f"{one.id} has a word, and there is no {one.clause}"


@pytest.mark.parametrize(("before", "now"), RENAMED.items())
def test_a_check_is_found_by_the_name_it_had(before: str, now: str, tmp_path: Path) -> None:
    assert [one.id for one in chosen(CHECKS, [before])] == [now]
    known = tmp_path / "known.toml"
    known.write_text(f'[[expected]]\ncheck = "{before}"\nreason = "it is known"\nlink = "https://example.org"\n')
    assert list(read(known, gathered())) == [now]


def test_every_capability_is_needed_by_a_check() -> None:
    used = {capability for one in CHECKS for capability in one.needs}
    assert set(CAPABILITIES) - used == {"function.echo"}, "echo is what every backend has"


@pytest.mark.parametrize("uses_all", [True, False])
def test_drawn_programs_are_reproducible_and_have_gradients(uses_all: bool) -> None:
    for seed in range(50):
        steps, root = draw(random.Random(seed), "ABC", uses_all=uses_all)
        assert (steps, root) == draw(random.Random(seed), "ABC", uses_all=uses_all)
        assert gradients_of(steps, [root])


def test_the_oracle_agrees_with_differences() -> None:
    """Moving a leaf by one moves the root by the gradient, where the root is linear in it; so look at it from both sides."""
    for seed in range(50):
        steps, root = draw(random.Random(seed), "ABC", uses_all=True)
        for name, gradient in gradients_of(steps, [root]).items():
            assert gradient == derivative(steps, root, name), (seed, name)


def derivative(steps: list, root: str, name: str) -> int:  # type: ignore[type-arg]
    """Differentiate a program forward, with dual numbers: nothing of it is the oracle's."""
    duals: dict[str, tuple[int, int]] = {}
    for step in steps:
        if "leaf" in step:
            duals[step["leaf"]] = (step["value"], int(step["leaf"] == name))
            continue
        (a, da), (b, db) = (duals[one] if isinstance(one, str) else (one, 0) for one in step["args"])
        duals[step["let"]] = {"add": (a + b, da + db), "mul": (a * b, a * db + b * da)}[step["operation"]]
    return duals[root][1]
