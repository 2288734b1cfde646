"""Wrong backends: what they are judged by, and what the kit must say of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from farref.properties.zoo.creature import CLAUSE, Creature, sentence_of

Kind = TypeVar("Kind", bound=type[Any])


@dataclass(frozen=True, kw_only=True)
class WrongBackend(Creature):
    """A backend that breaks a clause. Of what it is asked `checks` must fail, `blocked` be blocked, and all else pass."""

    place: str
    """Where its adapter is, `module:class`."""
    asked: tuple[str, ...]
    """The clauses and checks that it is judged by."""
    blocked: tuple[str, ...]


WRONG: Final[dict[str, WrongBackend]] = {}
"""Every wrong backend by its name."""


def wrong(clause: str, broken: str, *, asked: str, blocked: str = "", origin: str = CLAUSE) -> Callable[[Kind], Kind]:
    """Enter a backend: the clause that it breaks, and by spaces the checks that must fail, are asked, and are blocked."""

    def enter(kind: Kind) -> Kind:
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", kind.__name__).lower()
        kind.name = words
        WRONG[words.replace(" ", "_")] = WrongBackend(
            name=words.replace(" ", "_"),
            says=sentence_of(kind),
            clause=clause,
            origin=origin,
            caught_by=tuple(broken.split()),
            place=f"{kind.__module__}:{kind.__name__}",
            asked=tuple(asked.split()),
            blocked=tuple(blocked.split()),
        )
        return kind

    return enter
