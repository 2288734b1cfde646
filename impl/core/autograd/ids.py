"""Names for contexts, calls and passes: each carries who minted it, in which life, and a number (A2)."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from farref.impl.core.ids import Incarnation, WorkerId

WORD: Final = 2**64
"""An incarnation and a number have 64 bits each (spec/wire.md)."""


class _Id(Struct, frozen=True, array_like=True, cache_hash=True, order=True, forbid_unknown_fields=True, gc=False):
    """What all of them are: small values, written as arrays, in no cycle of references, with their hash computed once."""


class ContextId(_Id, frozen=True):
    """Names one context. Its creator mints it, and releases it (A2, A24).

    PyTorch's contexts are integers. So this can be used as one: it is printed, formatted, hashed and compared as one.
    """

    created_on: WorkerId
    incarnation: Incarnation
    number: int

    @classmethod
    def of(cls, number: int) -> ContextId:
        """Find the context that an integer stands for."""
        rest, count = divmod(number, WORD)
        return cls(WorkerId(rest // WORD), Incarnation(rest % WORD), count)

    @property
    def told(self) -> str:
        """What messages to people call it."""
        return f"context {self.created_on}.{self.incarnation}.{self.number}"

    def __int__(self) -> int:
        return (self.created_on * WORD + self.incarnation) * WORD + self.number

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        if type(other) is ContextId:
            return (
                self.number == other.number
                and self.incarnation == other.incarnation
                and self.created_on == other.created_on
            )
        return int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        # That of the integer, found faster: Python takes integers modulo 2**61 - 1, for which WORD is 8.
        return hash(self.created_on * 64 + self.incarnation * 8 + self.number)

    def __str__(self) -> str:
        return str(int(self))

    def __format__(self, how: str) -> str:
        return format(int(self), how)


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
        return f"pass {self.root}.{self.incarnation}.{self.number} of {self.context.told}"
