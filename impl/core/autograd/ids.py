"""Names for contexts, calls and passes: each carries who minted it, in which life, and a number (A2)."""

from __future__ import annotations

from msgspec import Struct

from farref.impl.core.ids import Incarnation, WorkerId


class _Id(Struct, frozen=True, array_like=True, cache_hash=True, order=True, forbid_unknown_fields=True, gc=False):
    """What all of them are: small values, written as arrays, in no cycle of references, with their hash computed once."""


class ContextId(_Id, frozen=True):
    """Names one context. Its creator mints it, and releases it (A2, A24)."""

    created_on: WorkerId
    incarnation: Incarnation
    number: int

    def __str__(self) -> str:
        return f"context {self.created_on}.{self.incarnation}.{self.number}"


class ForwardId(_Id, frozen=True):
    """Names a call that carries a context, and the two ends of its pair if it has one. Its source mints it (A2)."""

    created_on: WorkerId
    incarnation: Incarnation
    number: int

    def __str__(self) -> str:
        return f"call {self.created_on}.{self.incarnation}.{self.number}"


class PassId(_Id, frozen=True):
    """Names one call of `backward`, and says how it goes: the same on all workers, so it travels with the name (A2, A5)."""

    context: ContextId
    root: WorkerId
    incarnation: Incarnation
    number: int
    smart: bool
    retain: bool

    def __str__(self) -> str:
        return f"pass {self.root}.{self.incarnation}.{self.number} of {self.context}"
