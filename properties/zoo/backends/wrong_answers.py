"""Backends that answer wrongly, late or not at all, each in one way. The kit must find each, and by the right clause."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from farref.properties.zoo.toy.honest import Honest
from farref.properties.zoo.toy.references import Entry, Handle, References


class HangsOnFetch(Honest):
    """A fetch of what raised an error is never answered."""

    name = "hangs on fetch"

    def value(self, entry: Entry, timeout: float | None) -> Any:
        """Wait for a value that will not come."""
        if isinstance(entry.value.exception(self.timeout if timeout is None else timeout), ValueError):
            time.sleep(1000)
        return super().value(entry, timeout)


class AnswersWrongTypes(Honest):
    """What is true or false comes back as a number."""

    name = "answers wrong types"

    def settle(self, result: Future[Any], value: Any, error: Exception | None) -> None:
        """Lose the type."""
        super().settle(
            result, [int(one) if one is True else one for one in value] if isinstance(value, list) else value, error
        )


class ForgetsTheTimeout(Honest):
    """A fetch takes as long as it takes."""

    name = "forgets the timeout"

    def value(self, entry: Entry, timeout: float | None) -> Any:  # noqa: ARG002
        """Wait."""
        return entry.value.result()


class ComputesAgain(Honest):
    """Who fetches a value again gets another one."""

    name = "computes again"

    def start(self, workers: Sequence[str], options: Any) -> None:
        """Remember what was fetched."""
        super().start(workers, options)
        self.fetched: set[Handle] = set()

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Give something else the second time."""
        value, handle = super().fetch(worker, name, timeout), self.handles[worker].get(name)
        if handle is None or handle not in self.fetched:
            self.fetched |= {handle} if handle else set()
            return value
        return [value]


class SwallowsErrors(Honest):
    """A call that raises gives nothing."""

    name = "swallows errors"

    def result(self, result: Future[Any], timeout: float | None) -> Any:
        """Look away."""
        error = result.exception(self.timeout if timeout is None else timeout)
        return None if isinstance(error, ValueError) else super().result(result, timeout)


class NeverSeesADeath(Honest):
    """Who waits for a worker that dies waits on."""

    name = "never sees a death"

    class references(References):  # noqa: N801
        """Tables in which nobody dies."""

        def bury(self, worker: str) -> None:
            """Do nothing."""

    def call(self, worker: str, to: str, function: str, args: Sequence[Any], timeout: float | None) -> Any:
        """Call the dead, and wait."""
        return (
            super().call(worker, to, function, args, timeout) if self.handles.get(to) is not None else time.sleep(1000)
        )

    def fault(self, kind: str, worker: str, details: Any) -> None:
        """Let a worker fall silent."""
        if kind == "kill":
            del self.handles[worker]
        else:
            super().fault(kind, worker, details)


class Dies(Honest):
    """The adapter itself ends when an operation is misused."""

    name = "dies"

    def create(self, worker: str, name: str, owner: str, function: str | None, *details: Any) -> None:
        """End the process."""
        if function == "misuse":
            os._exit(3)
        super().create(worker, name, owner, function, *details)


class HangsAtTheEnd(Honest):
    """A shutdown does not end if a worker has died."""

    name = "hangs at the end"

    def stop(self) -> list[str]:
        """Wait for the dead."""
        if 0 < len(self.table.dead) < len(self.handles):
            time.sleep(1000)
        return super().stop()


class IsFlaky(Honest):
    """Every second world refuses to share."""

    name = "is flaky"
    worlds = 0

    def start(self, workers: Sequence[str], options: Any) -> None:
        """Count the worlds."""
        super().start(workers, options)
        self.worlds += 1

    def share(self, worker: str, name: str, to: str) -> None:
        """Have a bad day."""
        if self.worlds % 2:
            raise RuntimeError("not today")
        super().share(worker, name, to)


class StopsAtOnce(Honest):
    """A shutdown does not wait for functions; they go on without their worker."""

    name = "stops at once"

    def stop(self) -> list[str]:
        """Wait for nobody."""
        self.running.clear()
        super().stop()
        return []


class NeverSaysWhatItCannotWrite(Honest):
    """A result that cannot be written is not sent, and nothing is sent in its place."""

    name = "never says what it cannot write"

    def run(self, worker: str, function: str, given: list[Any], result: Future[Any]) -> None:
        """Give up without a word."""
        if function != "unwritable":
            super().run(worker, function, given, result)


class Liar(Honest):
    """It calls itself what another backend is called, and declares what no check asks for any more."""

    name = os.environ.get("LIAR_NAME", "model")
    capabilities = Honest.capabilities | {"controlled"}
