"""Backends that answer wrongly, late or not at all, each in one way. The kit must find each, and by the right clause."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from farref.properties.zoo.backends.wrong import wrong
from farref.properties.zoo.creature import REVIEW
from farref.properties.zoo.toy.honest import Honest
from farref.properties.zoo.toy.references import Entry, Handle, References


@wrong("R10", "R10.raises", asked="R10 R16 R20 R23", blocked="R20.unwritable R23.raises R23.misuse R23.passed_on")
class HangsOnFetch(Honest):
    """A fetch of what raised an error is never answered."""

    def value(self, entry: Entry, timeout: float | None) -> Any:
        """Wait for a value that will not come."""
        if isinstance(entry.value.exception(self.timeout if timeout is None else timeout), ValueError):
            time.sleep(1000)
        return super().value(entry, timeout)


@wrong("R4", "R4.unharmed R20.unharmed", asked="R4 R20")
class AnswersWrongTypes(Honest):
    """What is true or false comes back as a number."""

    def settle(self, result: Future[Any], value: Any, error: Exception | None) -> None:
        """Lose the type."""
        super().settle(
            result, [int(one) if one is True else one for one in value] if isinstance(value, list) else value, error
        )


@wrong("R27", "R20.pins R27.fetch R27.default", asked="R4 R20 R26 R27", blocked="R27.counted R27.enough")
class ForgetsTheTimeout(Honest):
    """A fetch takes as long as it takes."""

    def value(self, entry: Entry, timeout: float | None) -> Any:  # noqa: ARG002
        """Wait."""
        return entry.value.result()


@wrong("R20", "R20.again R20.once", asked="R19 R20 R22", blocked="R19.self R20.parked")
class ComputesAgain(Honest):
    """Who fetches a value again gets another one."""

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


@wrong("R4", "R4.raises", asked="R4 R10 R28", blocked="R4.unwritable R28 R28.unreadable R28.missing")
class SwallowsErrors(Honest):
    """A call that raises gives nothing."""

    def result(self, result: Future[Any], timeout: float | None) -> Any:
        """Look away."""
        error = result.exception(self.timeout if timeout is None else timeout)
        return None if isinstance(error, ValueError) else super().result(result, timeout)


@wrong("R34", "R34.waiting R34.freed", asked="R4 R20 R34", blocked="R34.call R34.fetch R34.share R34.receiver R34.drop")
class NeverSeesADeath(Honest):
    """Who waits for a worker that dies waits on."""

    class Tables(References):
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


@wrong("R32", "R32.dead", asked="R20 R32 R34.user", blocked="R34.user")
class HangsAtTheEnd(Honest):
    """A shutdown does not end if a worker has died."""

    def stop(self) -> list[str]:
        """Wait for the dead."""
        if 0 < len(self.table.dead) < len(self.handles):
            time.sleep(1000)
        return super().stop()


@wrong("R16", "R16.confirmed", asked="R16.confirmed")
class IsFlaky(Honest):
    """Every second world refuses to share."""

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


@wrong("R32", "R32.running R32.creation", asked="R16 R20 R32", origin=REVIEW)
class StopsAtOnce(Honest):
    """A shutdown does not wait for functions; they go on without their worker."""

    def stop(self) -> list[str]:
        """Wait for nobody."""
        self.running.clear()
        super().stop()
        return []


@wrong("R4", "R4.unwritable R20.unwritable", asked="R4 R10 R20", origin=REVIEW)
class NeverSaysWhatItCannotWrite(Honest):
    """A result that cannot be written is not sent, and nothing is sent in its place."""

    def run(self, worker: str, function: str, given: list[Any], result: Future[Any]) -> None:
        """Give up without a word."""
        if function != "unwritable":
            super().run(worker, function, given, result)
