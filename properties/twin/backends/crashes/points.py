"""Every point at which a worker is lost: a story, how far it has come, which role is lost, and how."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from itertools import permutations
from typing import Final, NamedTuple, Protocol


class Fate(Enum):
    """What becomes of a worker that is lost."""

    GONE = "gone"
    """It ends. What it had sent comes after the view, and is refused. Of what the others send, the newest comes first."""
    HEARD = "heard"
    """It ends. What it had sent, and what comes of that, arrives before the view."""
    ZOMBIE = "zombie"
    """It lives, and goes on with the story after everybody else has installed the view."""
    SECOND = "second"
    """It ends, as `GONE`. So does another one, which has not installed the view, when everybody else has settled it."""


class Point(NamedTuple):
    """One crash point. Its name is enough to take it again."""

    story: str
    done: int
    """How many steps of the story are done when the worker is lost."""
    letter: str
    """Who is lost; with `SECOND` two letters."""
    fate: Fate

    @property
    def name(self) -> str:
        """Such as `lend.07.C.zombie`."""
        return f"{self.story.replace(' ', '-')}.{self.done:02}.{self.letter}.{self.fate.value}"

    @property
    def way(self) -> str:
        """How the worker is lost, in a word."""
        return self.fate.value


class AnyPoint(Protocol):
    """A crash point, on the simulated network or between real processes."""

    @property
    def name(self) -> str:
        """What is enough to take it again."""

    @property
    def way(self) -> str:
        """How the worker is lost, in a word."""


class Outcome(NamedTuple):
    """What was seen at one point: where in the story it is, in words, and all that is wrong. Nothing, if all is well."""

    point: AnyPoint
    place: str
    problems: tuple[str, ...]


ONE: Final = (Fate.GONE, Fate.HEARD, Fate.ZOMBIE)


def points_of(story: str, steps: int, letters: Iterable[str]) -> list[Point]:
    """List the points of a story at which one is lost: before its first step, and after each."""
    return [Point(story, done, letter, fate) for done in range(steps + 1) for letter in letters for fate in ONE]


def points_of_two(story: str, steps: int, letters: Iterable[str]) -> list[Point]:
    """List the points of a story at which two are lost, one after the other."""
    pairs = list(permutations(letters, 2))
    return [Point(story, done, f"{one}{two}", Fate.SECOND) for done in range(steps + 1) for one, two in pairs]
