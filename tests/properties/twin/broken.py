"""What tests break in a process that is driven, until it ends."""

from __future__ import annotations

from contextlib import ExitStack

from farref.impl.worker.halves import Kept, Piece
from farref.properties.twin.backends import held_core

BROKEN = ExitStack()
"""What is broken in a process until it ends."""


def write_wrongly_again(mistake: str) -> None:
    """Lose the last frame that is written again over a new stream, or let it come twice."""
    right = Kept.again

    def wrong(kept: Kept, taken: int) -> list[Piece]:
        pieces = right(kept, taken)
        return pieces[:-1] if mistake == "a frame is lost" else [*pieces, *pieces[-1:]]

    BROKEN.callback(setattr, Kept, "again", right)
    Kept.again = wrong  # type: ignore[assignment, method-assign]
    vars(held_core)["PATIENCE_S"] = 1.0
