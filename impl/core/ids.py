"""Names for workers, RRefs and forks: each carries who minted it, in which life, and a number (R2).

The life is what makes an id unique for ever. A worker that starts again counts from 1 again, and without its incarnation a
late message about the old fork 1 would delete the new one. All ids are small frozen structs: they travel as three integers
and are compared and hashed in C, because every message looks one up. They refer to nothing that could refer back, so the
collector of cycles need not know them, which makes each smaller.
"""

from __future__ import annotations

from typing import Final, NewType, final

from msgspec import Struct

WorkerId = NewType("WorkerId", int)
"""The rank of a worker in its world."""

Incarnation = NewType("Incarnation", int)
"""One life of a worker, from initialisation to shutdown. A later life has a greater number."""

FIRST_LIFE: Final = Incarnation(1)

SequenceNumber = NewType("SequenceNumber", int)
"""The place of a control message among those from one worker to one other, from 1 on (R7)."""

CallId = NewType("CallId", int)
"""A call, as its caller counts them: what a `Return` answers."""

FetchId = NewType("FetchId", int)
"""A fetch, as the fetching worker counts them."""

WaiterId = NewType("WaiterId", int)
"""Code on an owner that waits for a value, as the shell around the core counts it."""


class RRefId(Struct, frozen=True, array_like=True, cache_hash=True, order=True, forbid_unknown_fields=True, gc=False):
    """Names one RRef. Its creator mints it, whoever the owner is (R2)."""

    created_on: WorkerId
    incarnation: Incarnation
    number: int

    def __str__(self) -> str:
        return f"RRefId({self.created_on}.{self.incarnation}.{self.number})"


class ForkId(Struct, frozen=True, array_like=True, cache_hash=True, order=True, forbid_unknown_fields=True, gc=False):
    """Names one fork. The worker that shares mints it, `remote()` mints the first (R2)."""

    created_on: WorkerId
    incarnation: Incarnation
    number: int

    def __str__(self) -> str:
        return f"ForkId({self.created_on}.{self.incarnation}.{self.number})"


class ForkData(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """What travels for each fork. No parent says: the owner counted this fork before it sent it (R2, R14)."""

    owner: WorkerId
    rref: RRefId
    fork: ForkId
    holder: WorkerId
    parent: ForkId | None


@final
class OwnedReference(Struct, frozen=True, gc=False):
    """A handle on the owner itself: a local reference, not a fork (R1)."""

    rref: RRefId


@final
class UserReference(Struct, frozen=True, gc=False):
    """A handle on a user: backed by one fork (R1)."""

    owner: WorkerId
    rref: RRefId
    fork: ForkId


Reference = OwnedReference | UserReference
"""What the application names when it shares, fetches or lets go."""
