"""Every point at which a process is lost: a story, a message in it, which end of the message is lost, when, and how."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from farref.properties.twin.backends.crashes.stories import CHAIN, HEIRS, HOME, LEND, OVERTAKEN

STORIES: Final = {story.name: story for story in (LEND, HEIRS, OVERTAKEN, HOME, CHAIN)}
"""All but the story of troubles: a real network has no message that fails on request."""

_MESSAGE: Final = re.compile(r"([A-E])'s (\w+) to ([A-E])")


class Mark(NamedTuple):
    """One message of a story: from whom to whom, what it is, and the how manieth of its kind between the two."""

    source: str
    kind: str
    target: str
    occurrence: int


class Moment(NamedTuple):
    """When somebody is lost: at which end of the message, and how."""

    name: str
    is_sender: bool
    is_after: bool
    stops: bool


MOMENTS: Final = (
    Moment("unsent", True, False, False),
    Moment("sent", True, True, False),
    Moment("untaken", False, False, False),
    Moment("taken", False, True, False),
    Moment("stops-unsent", True, False, True),
    Moment("stops-untaken", False, False, True),
)
"""Killed before the message leaves, or when it has; before it takes effect, or when it has and nothing is answered. Or stopped
before either, excluded by mistake, and let go on when the others have judged."""


class RealPoint(NamedTuple):
    """One crash point. Its name is enough to take it again."""

    story: str
    mark: Mark
    moment: Moment

    @property
    def victim(self) -> str:
        """Who is lost."""
        return self.mark.source if self.moment.is_sender else self.mark.target

    @property
    def name(self) -> str:
        """Such as `lend.C-ForkRequest-B.1.unsent`."""
        source, kind, target, occurrence = self.mark
        return f"{self.story.replace(' ', '-')}.{source}-{kind}-{target}.{occurrence}.{self.moment.name}"

    @property
    def way(self) -> str:
        """How the worker is lost, in a word."""
        return "stopped" if self.moment.stops else "killed"

    @property
    def place(self) -> str:
        """Where the point is, in words."""
        source, kind, target, occurrence = self.mark
        which = f"{kind} {occurrence} of {source} to {target}"
        return f"{self.story}: {self.victim} is {self.way} at {which} ({self.moment.name})"


def marks_of(lines: Iterable[str]) -> list[Mark]:
    """List the messages that a story has between two workers."""
    seen: Counter[tuple[str, ...]] = Counter()
    marks = []
    for line in lines:
        found = _MESSAGE.fullmatch(line)
        if found and found[1] != found[3]:
            seen[found.groups()] += 1
            marks.append(Mark(found[1], found[2], found[3], seen[found.groups()]))
    return marks


def points_of(story: str, lines: Iterable[str]) -> list[RealPoint]:
    """List the points of a story: six for each message."""
    return [RealPoint(story, mark, moment) for mark in marks_of(lines) for moment in MOMENTS]
