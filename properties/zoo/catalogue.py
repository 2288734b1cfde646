"""Every creature of the zoo, by its name."""

from __future__ import annotations

from collections.abc import Mapping
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
from farref.properties.zoo.mutants import autograd, rref_members, rref_owner, rref_storm, rref_user
from farref.properties.zoo.mutants.mutant import Mutant

RREF_MUTANTS: Final[Mapping[str, Mutant]] = {**rref_owner.MUTANTS, **rref_user.MUTANTS}
AUTOGRAD_MUTANTS: Final[Mapping[str, Mutant]] = autograd.MUTANTS
STORM_MUTANTS: Final[Mapping[str, Mutant]] = rref_storm.MUTANTS
CRASH_MUTANTS: Final[Mapping[str, Mutant]] = rref_members.MUTANTS
WRONG_BACKENDS: Final[Mapping[str, WrongBackend]] = WRONG

CATALOGUE: Final[Mapping[str, Creature]] = {
    **RREF_MUTANTS,
    **AUTOGRAD_MUTANTS,
    **STORM_MUTANTS,
    **CRASH_MUTANTS,
    **WRONG_BACKENDS,
}
