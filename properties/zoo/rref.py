"""Implementations with one mistake each, to show that the twin sees mistakes.

A mutant is a patch of one handler, applied to the implementation's classes in this process and taken off again. Each makes a
mistake that somebody could make who builds a backend from the spec, and names the clause that it breaks. The clean
implementation is never changed: `impl/` knows nothing of this file.
"""

from __future__ import annotations

from typing import Final

from farref.properties.zoo.mutants import rref_owner as zoo_owner
from farref.properties.zoo.mutants import rref_user as zoo_user
from farref.properties.zoo.mutants.mutant import Mutant

ZOO: Final[dict[str, Mutant]] = zoo_owner.CAGE.mutants | zoo_user.CAGE.mutants
"""Every mutant by its name."""
