"""Backends that do nothing right. A check that one of them passes would need a reason, and one that all pass is no check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from farref.properties.conformance.kit.backend import CAPABILITIES
from farref.properties.zoo.backends.wrong import wrong

COUNTS = ("owned", "forks", "pending", "children", "contexts", "passes")


@wrong("R4", "R4.unharmed", asked="R4.unharmed")
class Idle:
    """Does nothing at all, quickly, and says that it is done."""

    name: str
    version = "1"
    capabilities = frozenset(CAPABILITIES)
    count = 0

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Start nothing."""

    def create(self, *_given: Any) -> Any:
        """Do nothing."""
        return None

    share = drop = fetch = call = backward = collect = fault = create

    def gradients(self, *_given: Any) -> dict[str, float]:
        """Have no gradients."""
        return {}

    def probe(self, _worker: str, name: str | None) -> dict[str, Any]:
        """Have nothing, and confirm nothing."""
        return dict.fromkeys(COUNTS, self.count) if name is None else {"confirmed": False}

    def stop(self) -> list[str]:
        """Have stopped long ago."""
        return []


@wrong("R13", "R13.silent", asked="R13.silent")
class Hoarder(Idle):
    """Does nothing either, and says that it keeps something of everything."""

    count = 1

    def gradients(self, *_given: Any) -> dict[str, float]:
        """Have gradients of something."""
        return {"something": 1.0}

    def stop(self) -> list[str]:
        """Release nothing."""
        return ["something is left"]


@wrong("R4", "R4.unharmed", asked="R4.unharmed")
class Refuser(Idle):
    """Refuses everything."""

    def create(self, *_given: Any) -> Any:
        """Refuse."""
        raise RuntimeError("no")

    share = drop = fetch = call = backward = create
