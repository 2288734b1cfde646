"""Where messages run down beside the lifelines of their senders."""

from __future__ import annotations


class Tracks:
    """The places beside lifelines where messages run down, and the rows in which each is taken."""

    def __init__(self) -> None:
        self._taken: dict[tuple[tuple[str, bool], int], list[tuple[int, int]]] = {}

    def free(self, side: tuple[str, bool], first: int, last: int) -> int:
        """Take the nearest place that is free from one row to another."""
        number = 0
        while any(begin <= last and first <= end for begin, end in self._taken.get((side, number), ())):
            number += 1
        self._taken.setdefault((side, number), []).append((first, last))
        return number
