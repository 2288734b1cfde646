"""The checks of a plan, handed out to several threads: each once those are done that must be kept first."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from farref.properties.conformance.kit.check import Check


class CheckQueue:
    """Hands out checks in their order, as far as they need not wait for others."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._left = list(checks)
        self._needs = {
            check.id: {one.id for one in checks[:place]} & set(check.after) for place, check in enumerate(checks)
        }
        self._changed = threading.Condition()
        self.is_stopped = False

    def take(self) -> Check | None:
        """Give the next check that can be run, waiting for one; none if there are no more."""
        with self._changed:
            while self._left:
                ready = next((one for one in self._left if not self._needs[one.id]), None)
                if ready is not None:
                    self._left.remove(ready)
                    return ready
                self._changed.wait()
            return None

    def done(self, check: Check) -> None:
        """Say that a check is done, so that those that come after it can be run."""
        with self._changed:
            for needed in self._needs.values():
                needed.discard(check.id)
            self._changed.notify_all()

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self.is_stopped = True
            self._left.clear()
            self._changed.notify_all()
