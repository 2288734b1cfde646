"""What the actions of both protocols have in common."""

from __future__ import annotations


class Happening:
    """Something that can happen in a world. Its text is its label; coverage is counted by its kind."""

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return type(self).__name__
