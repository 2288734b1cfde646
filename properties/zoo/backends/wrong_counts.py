"""Backends that count references wrongly, each in one way. The kit must find each, and by the right clause."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from farref.properties.zoo.toy.honest import Honest, in_thread
from farref.properties.zoo.toy.references import Entry, Handle, References


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


class CountsOneOfMany(Honest):
    """Of several references in one call only the first is counted."""

    name = "counts one of many"

    def given(self, worker: str, to: str, args: Sequence[Any]) -> list[Any]:
        """Count all of them, and forget the others at once."""
        given = super().given(worker, to, args)
        for handle in [one for one in given if isinstance(one, Handle) and one.entry.owner != to][1:]:
            self.table.uncount(handle)
        return given


class RunsUncounted(Honest):
    """A function begins as soon as it is called, while the request to count its argument is under way."""

    name = "runs uncounted"

    def argument(self, worker: str, to: str, argument: Any) -> Any:
        """Hand on a reference that is to be counted later."""
        if not isinstance(argument, dict) or "rref" not in argument:
            return argument
        source = self.handle(worker, argument["rref"])
        fresh = Handle(source.entry, to)
        in_thread(lambda: self.have_counted(fresh, source))
        return fresh


class LeaksToItself(Honest):
    """Whoever shares with its own worker overwrites a handle, and forgets to let go of it."""

    name = "leaks to itself"

    def share(self, worker: str, name: str, to: str) -> None:
        """Forget what was there."""
        if worker == to:
            self.passed_on(self.handle(worker, name), to)
        super().share(worker, name, to)


class DeletesOnTimeout(Honest):
    """A fetch that took too long is taken for the end of its handle: its owner no longer counts it."""

    name = "deletes on timeout"

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Give up more than the fetch."""
        try:
            return super().fetch(worker, name, timeout)
        except TimeoutError:
            self.table.uncount(self.handle(worker, name))
            raise


class DropsWhatIsExpected(Honest):
    """An entry that waits for its creation goes with its last fork; the creation makes another one: PyTorch's N1."""

    name = "drops what is expected"

    class references(References):  # noqa: N801
        """Tables that take an empty set of forks for the end."""

        def __init__(self) -> None:
            super().__init__()
            self.created: set[Entry] = set()

        def uncount(self, handle: Handle) -> None:
            """Drop what nobody is known to refer to, whoever waits for it."""
            super().uncount(handle)
            if handle.worker != handle.entry.owner and not handle.entry.forks and handle.entry not in self.created:
                handle.entry.value = Future()

    table: references

    def register(self, handle: Handle) -> None:
        """Know what was created."""
        self.table.created.add(handle.entry)
        super().register(handle)


class FetchDoesNotPin(Honest):
    """A fetch that arrives after its handle was let go finds nothing, and nobody answers it."""

    name = "fetch does not pin"

    def value(self, entry: Entry, timeout: float | None) -> Any:
        """Look for the entry as the request arrives."""
        return super().value(entry, timeout) if entry in self.table.entries else time.sleep(1000)
