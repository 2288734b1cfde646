"""The toy with mistakes: a handle that was shared has another value, and a function that is given an RRef fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toy import Toy  # type: ignore[import-not-found]


class Wrong(Toy):  # type: ignore[misc]
    """Two mistakes."""

    name = "wrong <i>&amp;"

    def __init__(self) -> None:
        super().__init__()
        self.shared: set[tuple[str, str]] = set()

    def share(self, worker: str, name: str, to: str) -> None:
        """Remember who got it from another."""
        super().share(worker, name, to)
        self.shared.add((to, name))

    def fetch(self, worker: str, name: str, timeout: Any) -> Any:
        """Give something else to those."""
        value = super().fetch(worker, name, timeout)
        return "</script><b>8" if (worker, name) in self.shared else value

    def call(self, worker: str, to: str, function: str, args: Sequence[Any], timeout: Any) -> Any:
        """Fail."""
        if function == "value_of":
            raise RuntimeError(f"{to} has never heard of it")
        return super().call(worker, to, function, args, timeout)
