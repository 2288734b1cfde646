"""Ids of distributed autograd, with types of their own.

In the protocol an id is (worker that minted it, its incarnation, a counter) and is never used twice (clause A2). The model
needs only that ids differ: pairs are numbered in the order they can be recorded, passes in the order they begin, from 1.
"""

from __future__ import annotations

from typing import Final, NewType

from farref.model.ids import WorkerId

PairId = NewType("PairId", int)
PassId = NewType("PassId", int)

NO_PASS: Final = PassId(0)
CREATOR: Final = WorkerId(0)
"""The worker that opened the context, and that releases it: A."""
