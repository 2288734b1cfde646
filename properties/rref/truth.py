"""What the applications know of their own references: the ground truth that tables are compared with."""

from __future__ import annotations

from typing import Protocol


class Truth(Protocol):
    """What the applications know of their own references, whatever the tables say. RRefs and forks have neutral names."""

    def rref_of(self, fork: str, /) -> str | None:
        """Name the RRef that a fork was made of; None if nobody has made such a fork."""

    def parent_of(self, fork: str, /) -> str | None:
        """Name the fork that a fork was made from; None if the owner made it, or `remote()`."""

    def holder_of(self, fork: str, /) -> str:
        """Name the worker that a fork is meant for."""

    def computes(self, rref: str, /) -> bool:
        """Say whether the function runs that computes an RRef's value."""

    def holds(self, rref: str, /) -> bool:
        """Say whether code on the owner holds an RRef."""

    def waits(self, rref: str, /) -> bool:
        """Say whether code on the owner waits for an RRef's value."""

    def has(self, fork: str, /) -> bool:
        """Say whether code on the holder of a fork has its handle, and was not only promised it."""

    def asks(self, fork: str, /) -> bool:
        """Say whether code on the holder of a fork waits for the value."""

    def gave_up(self, fork: str, /) -> bool:
        """Say whether code on the holder of a fork asked for the value and gave up, and the answer has not come yet."""
