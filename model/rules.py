"""What a rule of a protocol is: a clause that could have been decided otherwise, as a value.

Each protocol has a record with one boolean for each rule. A *profile* is such a record: SOUND follows all rules. A *mutant*
is SOUND without one rule. A rule that could be switched off without anything going wrong would not be a rule: the checker
finds a counterexample for every mutant (`farref check rref --each rule`, `farref check autograd --each rule`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Self


def rule(clause: str, text: str) -> bool:
    """Declare a rule, on unless something else is said: the clause that states it, and the rule in a sentence."""
    declared: bool = field(default=True, metadata={"clause": clause, "text": text})
    return declared


@dataclass(frozen=True)
class Rules:
    """Which rules are followed. Every field is one rule."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """List the rules."""
        return tuple(one.name for one in fields(cls))

    @classmethod
    def clause_of(cls, name: str) -> str:
        """Name the clause that states a rule."""
        return cls._metadata(name)["clause"]

    @classmethod
    def text_of(cls, name: str) -> str:
        """Say a rule in a sentence."""
        return cls._metadata(name)["text"]

    def without(self, *names: str) -> Self:
        """Give these rules without some of them."""
        return replace(self, **dict.fromkeys(names, False))

    @classmethod
    def _metadata(cls, name: str) -> Mapping[str, str]:
        return next(one.metadata for one in fields(cls) if one.name == name)
