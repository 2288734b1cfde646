"""Backends that count references wrongly, each in one way. The kit must find each, and by the right clause."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from farref.properties.zoo.backends.wrong import wrong
from farref.properties.zoo.creature import PYTORCH, REVIEW
from farref.properties.zoo.toy.honest import Honest, in_thread
from farref.properties.zoo.toy.references import Entry, Handle, References


@wrong("R28", "R28 R28.owner", asked="R4.raises R13 R20 R26 R28 R29")
class LeaksAFork(Honest):
    """A share in a call that cannot be written is never withdrawn."""

    def withdraw(self, worker: str, to: str, args: Sequence[Any]) -> None:
        """Count what nobody will ever have."""
        for one in args:
            if isinstance(one, dict) and "rref" in one:
                self.passed_on(self.handle(worker, one["rref"]), to)


@wrong(
    "R22",
    "R12.argument R19.held R20.overtaken R22.local R24.quick",
    asked="R12 R13 R14 R16 R19 R20 R22 R24 R26",
    blocked="R16.chain R26.twice R26.self R26.runs",
)
class DeletesEarly(Honest):
    """When its creator lets go, a value goes, whoever else refers to it."""

    def drop(self, worker: str, name: str) -> None:
        """Take the value along."""
        handle = self.handles[worker].get(name)
        super().drop(worker, name)
        if handle is not None and worker == "A":
            handle.entry.value = Future()
            handle.entry.value.set_exception(LookupError("the value is gone"))


@wrong("R7", "R7", asked="R7 R16 R20 R24.quick R25 R26")
class AppliesCopies(Honest):
    """A message that arrives twice takes effect twice."""

    class Tables(References):
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


@wrong("R6", "R6 R6.request", asked="R6 R16 R20 R24.quick R26")
class NeverRepeats(Honest):
    """A message that the network loses is lost."""

    class Tables(References):
        """Tables that trust the network."""

        def lost(self, times: int, act: Callable[[], None]) -> None:
            """Do nothing."""


@wrong("R10", "R10 R31.timeout", asked="R10 R16 R20 R31", origin=PYTORCH + "F1")
class RegistersLate(Honest):
    """A creation is registered when its function has ended; its creator is told at once."""

    def register(self, handle: Handle) -> None:
        """Wait for the function."""

    def finish(self, handle: Handle) -> None:
        """Count the creator at last."""
        self.table.count(handle)

    def is_confirmed(self, handle: Handle) -> bool:  # noqa: ARG002
        """Say so too early."""
        return True


@wrong("R16", "R16.each", asked="R12 R13 R14 R16 R20", blocked="R16.parked", origin=REVIEW)
class CountsOneOfMany(Honest):
    """Of several references in one call only the first is counted."""

    def given(self, worker: str, to: str, args: Sequence[Any]) -> list[Any]:
        """Count all of them, and forget the others at once."""
        given = super().given(worker, to, args)
        for handle in [one for one in given if isinstance(one, Handle) and one.entry.owner != to][1:]:
            self.table.uncount(handle)
        return given


@wrong("R16", "R16.parked", asked="R12 R13 R14 R16 R20", origin=REVIEW)
class RunsUncounted(Honest):
    """A function begins as soon as it is called, while the request to count its argument is under way."""

    def argument(self, worker: str, to: str, argument: Any) -> Any:
        """Hand on a reference that is to be counted later."""
        if not isinstance(argument, dict) or "rref" not in argument:
            return argument
        source = self.handle(worker, argument["rref"])
        fresh = Handle(source.entry, to)
        in_thread(lambda: self.have_counted(fresh, source))
        return fresh


@wrong("R26", "R26.self R19.own", asked="R13 R16 R19 R20 R24.quick R26", origin=REVIEW)
class LeaksToItself(Honest):
    """Whoever shares with its own worker overwrites a handle, and forgets to let go of it."""

    def share(self, worker: str, name: str, to: str) -> None:
        """Forget what was there."""
        if worker == to:
            self.passed_on(self.handle(worker, name), to)
        super().share(worker, name, to)


@wrong("R33", "R33.rest", asked="R12 R13 R14 R16 R19 R20 R24.quick R26 R33", origin=REVIEW)
class MissesGrandchildren(Honest):
    """What a child shares is never counted. Its value is kept all the same, as long as somebody holds it."""

    def __init__(self) -> None:
        super().__init__()
        self.children: set[Handle] = set()

    def have_counted(self, fresh: Handle, source: Handle) -> None:
        """Say that it is counted, and forget it."""
        if source in self.children and fresh.worker != source.entry.owner:
            fresh.counted.set()
        else:
            super().have_counted(fresh, source)
        self.children.add(fresh)


@wrong("R27", "R27.counted", asked="R20 R22 R26 R27", origin=REVIEW)
class DeletesOnTimeout(Honest):
    """A fetch that took too long is taken for the end of its handle: its owner no longer counts it."""

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Give up more than the fetch."""
        try:
            return super().fetch(worker, name, timeout)
        except TimeoutError:
            self.table.uncount(self.handle(worker, name))
            raise


@wrong("R21", "R21.overtaken", asked="R3 R16 R20 R21", origin=PYTORCH + "N1")
class DropsWhatIsExpected(Honest):
    """An entry that waits for its creation goes with its last fork; the creation makes another one."""

    class Tables(References):
        """Tables that take an empty set of forks for the end."""

        def __init__(self) -> None:
            super().__init__()
            self.created: set[Entry] = set()

        def uncount(self, handle: Handle) -> None:
            """Drop what nobody is known to refer to, whoever waits for it."""
            super().uncount(handle)
            if handle.worker != handle.entry.owner and not handle.entry.forks and handle.entry not in self.created:
                handle.entry.value = Future()

    table: Tables

    def register(self, handle: Handle) -> None:
        """Know what was created."""
        self.table.created.add(handle.entry)
        super().register(handle)


@wrong("R20", "R20.overtaken", asked="R20 R26", origin=REVIEW)
class LosesAnOvertakenFetch(Honest):
    """A fetch that arrives after its handle was let go finds nothing, and nobody answers it."""

    def value(self, entry: Entry, timeout: float | None) -> Any:
        """Look for the entry as the request arrives."""
        return super().value(entry, timeout) if entry in self.table.entries else time.sleep(1000)
