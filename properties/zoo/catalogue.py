"""Every creature of the zoo, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from farref.properties.zoo.backends import (  # noqa: F401 (they enter)
    saboteurs,
    wrong_answers,
    wrong_counts,
    wrong_gradients,
    wrong_members,
)
from farref.properties.zoo.backends.wrong import WRONG, WrongBackend
from farref.properties.zoo.creature import Creature
from farref.properties.zoo.mutants import autograd, history, rref_members, rref_owner, rref_storm, rref_user, shell
from farref.properties.zoo.mutants.guards import guards
from farref.properties.zoo.mutants.mutant import Mutant
from farref.properties.zoo.mutants.shared import EQUAL_MISTAKES
from farref.properties.zoo.off import properties_off, rules_off

RREF_MUTANTS: Final[Mapping[str, Mutant]] = {**rref_owner.MUTANTS, **rref_user.MUTANTS}
AUTOGRAD_MUTANTS: Final[Mapping[str, Mutant]] = autograd.MUTANTS
STORM_MUTANTS: Final[Mapping[str, Mutant]] = rref_storm.MUTANTS
CRASH_MUTANTS: Final[Mapping[str, Mutant]] = rref_members.MUTANTS
HISTORY_MUTANTS: Final[Mapping[str, Mutant]] = history.MUTANTS
SHELL_MUTANTS: Final[Mapping[str, Mutant]] = shell.MUTANTS
WRONG_BACKENDS: Final[Mapping[str, WrongBackend]] = WRONG

CATALOGUE: Final[Mapping[str, Creature]] = {
    **RREF_MUTANTS,
    **AUTOGRAD_MUTANTS,
    **STORM_MUTANTS,
    **CRASH_MUTANTS,
    **HISTORY_MUTANTS,
    **SHELL_MUTANTS,
    **WRONG_BACKENDS,
}
"""Those that somebody wrote."""


@lru_cache(maxsize=1)
def everybody() -> Mapping[str, Creature]:
    """Give all of them by name, also those that are made: without a guard, without a rule, without a property."""
    return {**CATALOGUE, **EQUAL_MISTAKES, **rules_off(), **properties_off(), **guards()}
