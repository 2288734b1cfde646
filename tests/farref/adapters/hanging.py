"""The toy, which hangs when anything is fetched."""

from __future__ import annotations

import time
from typing import Any

from toy import Toy  # type: ignore[import-not-found]


class Hanging(Toy):  # type: ignore[misc]
    """Never ends a fetch."""

    name = "hanging"

    def fetch(self, worker: str, name: str, timeout: Any) -> Any:
        """Hang."""
        time.sleep(3600)
