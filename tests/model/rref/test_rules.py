"""Profiles and mutants are values of one record."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from farref.model.rref.rules import OF_MEMBERS, RULES, SOUND, TORCH, RRefRules
from farref.model.rref.user import Need


def test_sound_follows_every_rule() -> None:
    assert all(asdict(SOUND).values())


def test_pytorch_follows_some() -> None:
    """Of rules about views and links nothing is said: PyTorch excludes nobody."""
    assert {rule for rule in RULES if getattr(TORCH, rule)} - {*OF_MEMBERS} == {
        "entry_counts_local_references",
        "owner_registers_shares",
        "accepts_after_confirmation",
        "parent_waits_for_children",
        "user_waits_for_confirmation",
    }


@pytest.mark.parametrize("rule", RULES)
def test_a_mutant_leaves_out_one_rule(rule: str) -> None:
    assert [other for other in RULES if not getattr(SOUND.without(rule), other)] == [rule]
    assert RRefRules.clause_of(rule).startswith("R")
    assert RRefRules.text_of(rule)


def test_a_user_stays_for_what_a_rule_says() -> None:
    assert {need.value for need in Need} <= set(RULES)
