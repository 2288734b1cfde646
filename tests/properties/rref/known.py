"""The known defects, searched for once: what the stories, the traces and the documents are compared with."""

from __future__ import annotations

from functools import cache

from farref.model.checker import fast
from farref.model.checker.interface import Counterexample
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import TORCH
from farref.properties.protocol import Claim


@cache
def shortest(claim: Claim) -> Counterexample:
    """Find a shortest run of PyTorch's rules to a claim."""
    found = fast.check(RRefModel(claim.bounds, TORCH), (claim.property,)).counterexample
    assert found is not None
    return found
