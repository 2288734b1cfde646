"""One mistake in the implementation, which can be made and unmade while it runs.

A mutant is a patch of one handler, applied to the implementation's classes in this process and taken off again. The clean
implementation is never changed: `impl/` knows nothing of the zoo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from farref.properties.zoo.creature import CLAUSE, TWINS, Creature, sentence_of

Handler = Callable[..., Any]
Instead = Callable[[Handler], Handler]
"""Gives the handler that makes the mistake, from the one that does not."""


@dataclass(frozen=True, kw_only=True)
class Mutant(Creature):
    """One mistake: the handler it is in, and what stands there instead."""

    place: type
    handler: str
    instead: Instead

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Let the implementation make this mistake, for a while."""
        original = self.place.__dict__[self.handler]
        self.let_loose()
        try:
            yield
        finally:
            setattr(self.place, self.handler, original)

    def let_loose(self) -> None:
        """Let the implementation make this mistake as long as this process lives."""
        setattr(self.place, self.handler, self.instead(self.place.__dict__[self.handler]))


class Mutants(dict[str, Mutant]):
    """The mutants of a protocol, each entered under its name."""

    def __init__(self, protocol: str, caught_by: str | None = None) -> None:
        super().__init__()
        self._twin = caught_by or TWINS[protocol]

    def enter(
        self, clause: str, place: type, handler: str, *checks: str, origin: str = CLAUSE
    ) -> Callable[[Instead], Instead]:
        """Enter a mutant: the clause it breaks, the handler its mistake is in, and checks of the kit that must catch it too."""

        def enter(instead: Instead) -> Instead:
            self[instead.__name__] = Mutant(
                name=instead.__name__,
                says=sentence_of(instead),
                clause=clause,
                origin=origin,
                caught_by=(self._twin, *checks),
                place=place,
                handler=handler,
                instead=instead,
            )
            return instead

        return enter
