"""How a .cfg claims something: of every state, of every run, or of every step; and of which specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from farref.properties.proof.rref.invariant import INVARIANT

REFINEMENT: Final = "Refines"
"""Every step is one of AbstractRefCount.tla. It speaks of runs, but asks for no fairness."""

INDUCTIVE: Final = ("IndInv", *(one.id for one in INVARIANT))
"""The invariant of the proof and its clauses. They need the module MCRRefInvariant, which follows one more fact."""


def claimed(name: str) -> str:
    """Write the line that claims something: of every state, or, with a name like P3Live, of every run."""
    return f"{'PROPERTY' if _is_live(name) or name == REFINEMENT else 'INVARIANT'} {name}"


def specification(claims: Sequence[str]) -> str:
    """Name the specification of which some claims are made."""
    if any(name in INDUCTIVE for name in claims):
        return "FactSpec"
    return "FairSpec" if any(map(_is_live, claims)) else "Spec"


def module_for(claims: Sequence[str]) -> str:
    """Name the module that knows what is claimed of RRefs."""
    return "MCRRefInvariant" if any(name in INDUCTIVE for name in claims) else "MCRRef"


def _is_live(name: str) -> bool:
    return name.endswith("Live")
