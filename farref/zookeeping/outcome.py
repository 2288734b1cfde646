"""What an engine made of a creature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import Struct

from farref.properties.zoo.creature import Creature

STORY_MOST = 24
"""A story that is kept has no more lines than this."""


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether an engine killed a creature, with what, and after how much."""

    killed: bool
    by: str = ""
    """What the engine said."""
    after: int = 0
    seconds: float = 0.0
    story: tuple[str, ...] = ()
    """The shortest run that shows it, as far as the engine has one."""


@dataclass(frozen=True)
class Engine:
    """Something that judges creatures."""

    name: str
    text: str
    unit: str
    """What it counts until it kills."""
    takes: Callable[[Creature], bool]
    """Says whether it has anything to say about a creature."""
    judge: Callable[[Creature], Outcome]
    prepare: Callable[[Creature], object] = lambda _: None
    """Computes what several creatures need, once, in the process that the others are forked from."""


def killed(by: str, after: int, story: list[str] | tuple[str, ...] = ()) -> Outcome:
    """Say that a creature was killed. The story is cut if it is long."""
    lines = tuple(" ".join(line.split()) for line in story)
    if len(lines) > STORY_MOST:
        lines = (*lines[: STORY_MOST - 1], f"... and {len(lines) - STORY_MOST + 1} more")
    return Outcome(killed=True, by=" ".join(by.split())[:300], after=after, story=lines)


def survived(after: int, by: str = "") -> Outcome:
    """Say that a creature was not killed."""
    return Outcome(killed=False, after=after, by=by)
