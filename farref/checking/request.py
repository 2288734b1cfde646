"""What a user asks of `farref check`: which protocol, in which worlds, with which engine, for how long."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from farref.model.checker.disk.search import Place
from farref.model.checker.interface import Budget, Property
from farref.properties.protocol import AnySubject, Configuration, Rules
from farref.properties.protocols import subject_of

UNLIMITED: Final = Budget()


@dataclass(frozen=True)
class Walk:
    """Random walks instead of a search."""

    walks: int
    seed: int


@dataclass(frozen=True)
class Request:
    """One check, completely described."""

    configurations: tuple[Configuration, ...]
    is_portfolio: bool = False
    profile: str = "sound"
    without: str | None = None
    claim: str | None = None
    engine: str = "fast"
    budget: Budget = UNLIMITED
    symmetry: bool = False
    walk: Walk | None = None
    place: Place | None = None
    """Where on disk the states are kept; None is in memory."""

    @property
    def about(self) -> AnySubject:
        """What is checked: the subject that the bounds of the configurations belong to."""
        return subject_of(self.configurations[0].bounds)

    @property
    def subject(self) -> str:
        """What is checked."""
        return self.about.name

    @property
    def rules(self) -> Rules:
        """The rules that are followed."""
        return self.about.rules_of(self.profile, self.without)

    @property
    def is_expected_to_hold(self) -> bool:
        """Say whether this is the protocol farref specifies: it is run to the end, and its witnesses matter."""
        return self.profile == "sound" and self.without is None

    @property
    def wants_witnesses(self) -> bool:
        """Say whether what must be reachable is looked for; TLC has no notion of it."""
        return self.is_expected_to_hold and self.engine != "tlc"

    @property
    def engine_name(self) -> str:
        """The engine, or that there is none."""
        return self.engine if self.walk is None else "walk"

    def properties(self, bounds: Any) -> tuple[Property, ...]:
        """List what is to be checked in a world of some size."""
        if self.claim is not None and self.claim in self.about.every_claim:
            return (self.about.every_claim[self.claim].property,)
        wanted = self.about.properties(bounds)
        if self.claim is not None:
            return tuple(one for one in wanted if one.id == self.claim)
        return wanted + (self.about.witnesses(bounds) if self.wants_witnesses else ())

    def narrowed(self, configuration: Configuration) -> Request:
        """Ask the same of one configuration."""
        return replace(self, configurations=(configuration,), is_portfolio=False)

    def command(self) -> str:
        """Give the shell command that asks for the same again."""
        words = ["farref", "check", self.subject]
        words += ["--without", self.without] if self.without else ["--profile", self.profile]
        words += ["--claim", self.claim] if self.claim else []
        if not self.is_portfolio and self.claim not in self.about.every_claim:
            words += flags(self.configurations[0].bounds, self.about.said_always)
        words += ["--engine", self.engine] if self.engine != "fast" else []
        words += ["--symmetry"] if self.symmetry else []
        limits = {"--states-max": self.budget.states_max, "--depth-max": self.budget.depth_max}
        words += [word for name, limit in limits.items() if limit is not None for word in (name, str(limit))]
        words += ["--disk", str(self.place.path)] if self.place else []
        words += ["--walk", str(self.walk.walks), "--seed", str(self.walk.seed)] if self.walk else []
        return shlex.join(words)


def flags(bounds: Any, said_always: Collection[str]) -> list[str]:
    """Write bounds as command-line flags: those that differ from their default, and those that are always said."""
    words: list[str] = []
    for bound in fields(bounds):
        value, name = getattr(bounds, bound.name), bound.name.replace("_", "-")
        if value == bound.default and bound.name not in said_always:
            continue
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words += [f"--{name}", str(value)]
    return words
