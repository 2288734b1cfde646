"""One mistake in the implementation, which can be made and unmade while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Handler = Callable[..., Any]
Instead = Callable[[Handler], Handler]
"""Gives the handler that makes the mistake, from the one that does not."""


@dataclass(frozen=True)
class Mutant:
    """One mistake: the handler it is in, and what stands there instead."""

    name: str
    clause: str
    text: str
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


class Cage:
    """Some mutants, each entered under its name."""

    def __init__(self) -> None:
        self.mutants: dict[str, Mutant] = {}

    def mutant(self, clause: str, place: type, handler: str) -> Callable[[Instead], Instead]:
        """Enter a mutant: the clause it breaks, and the handler its mistake is in."""

        def enter(instead: Instead) -> Instead:
            name, text = instead.__name__, (instead.__doc__ or "").strip()
            self.mutants[name] = Mutant(name, clause, text, place, handler, instead)
            return instead

        return enter
