"""Backends that count references wrongly, each in one way. The kit must find each, and by the right clause."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from farref.properties.zoo.backends.honest import Honest
from farref.properties.zoo.backends.references import Entry, Handle, References


class LeaksAFork(Honest):
    """A share in a call that cannot be written is never withdrawn."""

    name = "leaks a fork"

    def withdraw(self, worker: str, to: str, args: Sequence[Any]) -> None:
        """Count what nobody will ever have."""
        for one in args:
            if isinstance(one, dict) and "rref" in one:
                self.passed_on(self.handle(worker, one["rref"]), to)


class DeletesEarly(Honest):
    """When its creator lets go, a value goes, whoever else refers to it."""

    name = "deletes early"

    def drop(self, worker: str, name: str) -> None:
        """Take the value along."""
        handle = self.handles[worker].get(name)
        super().drop(worker, name)
        if handle is not None and worker == "A":
            handle.entry.value = Future()
            handle.entry.value.set_exception(LookupError("the value is gone"))


class AppliesCopies(Honest):
    """A message that arrives twice takes effect twice."""

    name = "applies copies"

    class references(References):  # noqa: N801 (it stands where the honest backend has its tables)
        """Tables that do not know a copy."""

        def once(self, act: Callable[[], None]) -> Callable[[], None]:
            """Believe every copy."""
            return act

        def count(self, handle: Handle) -> None:
            """Look whether a fork is there, and not whether it has been."""
            if handle.is_counted:
                handle.is_dropped = False
                self.entries.append(handle.entry)
            super().count(handle)


class NeverRepeats(Honest):
    """A message that the network loses is lost."""

    name = "never repeats"

    class references(References):  # noqa: N801
        """Tables that trust the network."""

        def lost(self, times: int, act: Callable[[], None]) -> None:
            """Do nothing."""


class RegistersLate(Honest):
    """A creation is registered when its function has ended, as in PyTorch; its creator is told at once."""

    name = "registers late"

    def register(self, handle: Handle) -> None:
        """Wait for the function."""

    def finish(self, handle: Handle) -> None:
        """Count the creator at last."""
        self.table.count(handle)

    def is_confirmed(self, handle: Handle) -> bool:  # noqa: ARG002
        """Say so too early."""
        return True


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


class Liar(Honest):
    """It calls itself what another backend is called, and declares what no check asks for any more."""

    name = os.environ.get("LIAR_NAME", "model")
    capabilities = Honest.capabilities | {"controlled"}
