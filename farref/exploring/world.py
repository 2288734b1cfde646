"""A world that can be asked where its walks lead: what a server answers with."""

from __future__ import annotations

from dataclasses import dataclass

from farref.exploring.guide import Guide
from farref.exploring.search import turning
from farref.exploring.shape import Document, Found, Move, Walked


@dataclass(frozen=True)
class OpenWorld:
    """A world of the model: any walk can be taken."""

    guide: Guide
    document: Document

    def walk(self, moves: tuple[Move, ...], begin: int) -> Walked:
        """Give the nodes of a walk from some place on."""
        return self.guide.walk(moves, begin)

    def search(self, moves: tuple[Move, ...], sentence: str) -> Found:
        """Find the shortest way from the end of a walk to where a sentence turns."""
        return turning(self.guide, moves, sentence)
