"""Backends that break no clause, and that the kit must not be taken in by."""

from __future__ import annotations

import os
from typing import Any

from farref.properties.zoo.toy.honest import Honest


class Dies(Honest):
    """The adapter itself ends when an operation is misused."""

    name = "dies"

    def create(self, worker: str, name: str, owner: str, function: str | None, *details: Any) -> None:
        """End the process."""
        if function == "misuse":
            os._exit(3)
        super().create(worker, name, owner, function, *details)


class Liar(Honest):
    """It calls itself what another backend is called, and declares what no check asks for any more."""

    name = os.environ.get("LIAR_NAME", "model")
    capabilities = Honest.capabilities | {"controlled"}
