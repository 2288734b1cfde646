"""The engine on the simulated network, in random programs and orders; and mistakes in it, each of which is noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS
from farref.properties.zoo.mutants.mutant import Mutant
from tests.impl.core.autograd.campaigns import CAMPAIGNS, fast_is_right_or_names_the_sends
from tests.impl.core.autograd.programs import Program

SEEDS = range(100)
FEW_SEEDS = range(40)


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.__name__)
def test_it_holds_for_every_seed(campaign: Callable[[int], None]) -> None:
    for seed in SEEDS:
        try:
            campaign(seed)
        except Exception as error:
            raise AssertionError(f"{campaign.__name__}({seed})") from error


def test_fast_does_both() -> None:
    """The campaign above would say little if FAST always ended the same way."""
    completes = []
    for seed in SEEDS:
        program = Program.begun(seed)
        program.run(4 + seed % 9)
        completes.append(program.fast_completes(program.roots()))
    assert 10 < sum(completes) < 90
    assert fast_is_right_or_names_the_sends in CAMPAIGNS


TOO_RARE = {"a_release_does_not_ask_everybody"}
"""Mistakes that show in orders which these campaigns hardly meet. The twin catches them (tests/properties)."""

MISTAKES = {name: mutant for name, mutant in AUTOGRAD_MUTANTS.items() if name not in TOO_RARE}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_every_mistake_is_noticed(mistake: Mutant) -> None:
    with mistake.alive():
        for seed in FEW_SEEDS:
            for campaign in CAMPAIGNS:
                try:
                    campaign(seed)
                except Exception:
                    return
    pytest.fail(f"nothing noticed: {mistake.says}")
