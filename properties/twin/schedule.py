"""What a campaign has to know of a protocol in order to exercise model and implementation together.

There is one record for each protocol (`exercises.py`). Everything else about schedules, twins, tallies and shrinking is the
same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, Protocol

from farref.model.checker.interface import Action, Property, State
from farref.properties.protocol import Subject, subject_of

Actions = tuple[Action, ...]
Observation = Any
"""What can be seen after a step: plain data that compares equal, with `flying`, the messages under way."""


class Observer(Protocol):
    """Looks at the worlds of one run of the model."""

    def observe(self, world: Any, /) -> Observation:
        """Look at a world."""


class Candidates(Protocol):
    """The actions of a world of some size, by sort."""

    def has(self, sort: str, /) -> bool:
        """Say whether there is any action of a sort."""

    def of(self, sort: str, world: Any, /) -> list[Any]:
        """List the actions of a sort that may be possible in a world."""


@dataclass(frozen=True)
class Schedule:
    """One schedule before it is run: everything about it follows from its seed and number."""

    seed: int
    number: int
    bounds: Any
    restless: bool
    eagerness: tuple[tuple[str, float], ...]
    late: tuple[str, ...]  # the kinds of message that it keeps back

    def random(self) -> Random:
        """Give the source of its steps."""
        return Random(f"{self.seed}/{self.number}/steps")


@dataclass(frozen=True)
class Exercise:
    """One protocol, as campaigns see it."""

    about: Subject
    sorts: Mapping[str, tuple[type, ...]]  # the sorts of step, and the actions of each
    faults: Mapping[str, tuple[type, ...]]  # the faults that are counted, and the actions that are such a fault
    needs: Mapping[str, str]  # the bound that has to allow a fault
    situations: Callable[[Any], tuple[Property, ...]]  # the awkward situations of a world of some size
    every_situation: frozenset[str]  # and their names, whatever the size
    draw: Callable[[int, int, dict[str, Any]], Schedule]  # from a seed, a number, and bounds that are fixed
    unfit: Callable[[dict[str, Any]], str | None]  # what is wrong with bounds that are fixed
    candidates: Callable[[Any, Iterable[str]], Candidates]  # for some bounds, and kinds of message that are kept back
    observer: Callable[[Any], Observer]
    lines: Callable[[Observation], list[str]]  # an observation, one line for each fact
    prompt: Callable[[State, Any], Action | None]  # what an implementation does at once
    forbidden: Callable[[State, Any], Iterable[Action]]  # what an application could try now and must be refused
    broken: Callable[[State, Any], list[str]]  # what the model itself breaks after a step
    left: Callable[[State, Observation, Any], list[str]]  # what is left although nothing more can happen
    smaller: Callable[[Any, Actions], Iterable[tuple[Any, Actions]]]  # the same run in smaller worlds


@lru_cache(maxsize=64)
def sound_model(bounds: Any) -> Any:
    """Give the model of the sound protocol that some bounds are about."""
    about = subject_of(bounds)
    return about.model(bounds, about.profiles["sound"])
