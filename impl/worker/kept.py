"""What was written to a peer and may not have arrived: kept until the peer says that it has taken it.

Both ends count the bytes of whole frames from the first stream on. A piece never spans two frames, so what the peer has taken
ends where a piece ends. When a stream breaks, what follows is written again to the next one (`spec/wire.md`, Epochs). Pieces
are not copied, as in the outbox: none of them can change (`spec/arrays.md`).
"""

from __future__ import annotations

from collections import deque

from farref.impl.errors import WireError

Piece = bytes | memoryview


class Kept:
    """The end of what was written to one peer. Whoever has the send lock is in here, and nobody else."""

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self.begin = self.end = 0
        """How many bytes of frames were written before the first piece here, and up to the end of the last."""

    def add(self, pieces: list[Piece], size: int) -> None:
        """Keep pieces of so many bytes that were written."""
        self._pieces.extend(pieces)
        self.end += size

    def forget(self, taken: int) -> None:
        """Keep nothing of what the peer has taken."""
        if taken > self.end:
            raise WireError(f"a peer has taken {taken} bytes of frames, and was sent {self.end}")
        while self._pieces and self.begin + len(self._pieces[0]) <= taken:
            self.begin += len(self._pieces.popleft())

    def again(self, taken: int) -> list[Piece]:
        """Give all that a peer has not taken, to be written once more."""
        self.forget(taken)
        if self.begin != taken:
            raise WireError(f"a peer has taken {taken} bytes of frames, and no frame ends there")
        pieces = list(self._pieces)
        self.clear()
        return pieces

    def clear(self) -> None:
        """Keep nothing."""
        self._pieces.clear()
        self.end = self.begin

    def __len__(self) -> int:
        return self.end - self.begin
