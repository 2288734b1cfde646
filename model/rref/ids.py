"""Ids with types of their own, so that a fork is never mistaken for a worker.

In the protocol an id is (worker that minted it, its incarnation, a counter) and is never used twice (clause R2). The model
needs only that ids differ, so it numbers them: forks in the order they are minted, a run of `forks` numbers for each RRef.
"""

from typing import NewType

RRefId = NewType("RRefId", int)
ForkId = NewType("ForkId", int)
