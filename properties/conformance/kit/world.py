"""A backend as a check sees it: the verbs (`verbs.py`), and what must be so."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from farref.properties.conformance.conversation.session import UNSUPPORTED, OperationFailed
from farref.properties.conformance.kit.backend import KINDS
from farref.properties.conformance.kit.document import Script
from farref.properties.conformance.kit.verbs import BEGUN, DEADLINE, Entry, Pending, Verbs

__all__ = ["BEGUN", "PATIENCE", "ClauseBroken", "World"]

PATIENCE: Final = 5.0
"""How long counts may take to come to rest."""
PAUSE: Final = 0.02


class ClauseBroken(Exception):  # noqa: N818 (it says what happened)
    """The backend has broken the clause; the message says how. Files show it too."""

    def __init__(self, said: str, *files: Script) -> None:
        super().__init__(said)
        self.files = files


class World(Verbs):
    """Some workers of a backend, what has been done with them so far, and what a check says must be so."""

    def expect(self, is_so: bool, otherwise: str, at: Entry | None = None, **wanted: Any) -> None:
        """Break the clause unless something is so; the trouble is with an operation, or what was done last."""
        if not is_so:
            if at is not None or self.entries:
                trouble = at or self.entries[-1]
                trouble.trouble, trouble.wanted = True, wanted or None
            raise ClauseBroken(otherwise)

    def gives(self, pending: Pending, wanted: Any, deadline: float = DEADLINE) -> None:
        """Break the clause unless an operation gives a value."""
        got = pending.wait(deadline)
        self.expect(repr(got) == repr(wanted), f"it gives {got!r}, not {wanted!r}", pending.entry, gives=wanted)

    def finds(self, worker: str, name: str, wanted: Any) -> None:
        """Break the clause unless a worker can fetch a value."""
        self.gives(self.begin_fetch(worker, name), wanted)

    def until(self, is_so: Callable[[int], bool], otherwise: str, within: float = PATIENCE) -> None:
        """Break the clause unless something comes to be so. It is told how often it was asked; all that is one operation."""
        end, before, asked = time.monotonic() + within, len(self.entries), 1
        while not is_so(asked):
            self.expect(time.monotonic() < end, f"{otherwise}, {within:g} s later")
            del self.entries[before:]
            time.sleep(PAUSE)
            asked += 1

    def confirms(self, worker: str, name: str, within: float) -> None:
        """Break the clause unless a handle comes to be confirmed."""
        self.until(
            lambda _: self.probe(worker, name)["confirmed"] is True, f"{worker}'s {name} is not confirmed", within
        )

    def settles(self, worker: str, within: float = PATIENCE, **counts: int) -> None:
        """Break the clause unless a worker's counts come to rest at these. Those that a backend does not have are left out."""
        self._come_to(worker, counts, within)

    def empties(self, within: float = PATIENCE) -> None:
        """Break the clause unless all counts of all workers come to nothing."""
        before = len(self.entries)
        for worker in self.workers:  # who is asked clears up its garbage first, and that may be what another one counts
            self.probe(worker)
        del self.entries[before:]
        for worker in self.workers:
            self._come_to(worker, None, within)

    def leaves_nothing(self) -> None:
        """Break the clause if something is left, once everybody has let go. A backend that cannot be asked is believed."""
        if "probe" in self.session.identity.capabilities:
            self.empties()

    def keeps(self, worker: str, seconds: float, **counts: int) -> None:
        """Break the clause if a worker's counts change within some time."""
        end, before = time.monotonic() + seconds, len(self.entries)
        while time.monotonic() < end:
            del self.entries[before:]
            self._stands(worker, counts)
            time.sleep(PAUSE)

    def names(self, failure: OperationFailed, worker: str, but_not: str = "") -> None:
        """Break the clause unless an error names a worker, or gives its number, and does not name some others."""
        said = failure.in_full
        self.expect(self._is_named(worker, said), f"the error does not name {worker}: {failure}")
        for other in but_not:
            self.expect(not self._is_named(other, said), f"the error names {other}, which is not to blame: {failure}")

    def _is_named(self, worker: str, said: str) -> bool:
        number = self.workers.index(worker)
        return re.search(rf"\b{worker}\b|\b(?i:node|worker|rank)\W{{0,3}}{number}\b", said) is not None

    def _come_to(self, worker: str, counts: Mapping[str, int] | None, within: float) -> None:
        """Look until the counts are as wanted, or time is over. Looking again is no new operation."""
        end, before = time.monotonic() + within, len(self.entries)
        while not self._stands(worker, counts, time.monotonic() < end, f", {within:g} s later"):
            del self.entries[before:]
            time.sleep(PAUSE)

    def _stands(self, worker: str, counts: Mapping[str, int] | None, may_differ: bool = False, when: str = "") -> bool:
        """Say whether a worker's counts are as wanted, or zero; break the clause if they are not and must be."""
        found = {name: count for name, count in self.probe(worker).items() if isinstance(count, int)}
        wanted = dict.fromkeys(found, 0) if counts is None else counts
        wrong = {name: count for name, count in wanted.items() if found.get(name, count) != count}
        said = ", ".join(f"{name} is {found[name]}, not {count}" for name, count in wrong.items())
        self.expect(may_differ or not wrong, f"on {worker} {said}{when}", counts=wrong)
        return not wrong

    def fails(self, pending: Pending, deadline: float = DEADLINE) -> OperationFailed:
        """Break the clause unless an operation fails, in whatever way."""
        return self.refuses(tuple(KINDS), pending, deadline)

    def ends_without(
        self, kinds: Sequence[str], pending: Pending, right: Any, deadline: float = DEADLINE
    ) -> OperationFailed | None:
        """Break the clause unless an operation fails in one of these ways, as the owner is lost. Give the failure.

        Where the caller owns the value, who computed it may be lost: then the right value is right.
        """
        if "caller_owns" not in self.session.identity.capabilities:
            return self.refuses(kinds, pending, deadline)
        try:
            self.gives(pending, right, deadline)
        except OperationFailed as failure:
            if failure.kind not in kinds:
                raise
            return failure
        return None

    def refuses(self, kinds: Sequence[str], pending: Pending, deadline: float = DEADLINE) -> OperationFailed:
        """Break the clause unless an operation fails, and in one of these ways."""
        try:
            got = pending.wait(deadline)
        except OperationFailed as failure:
            if failure.kind == UNSUPPORTED:
                raise
            said = f"it failed as {failure.kind} ({failure}), not as {' or '.join(kinds)}"
            self.expect(failure.kind in kinds, said, pending.entry, fails=list(kinds))
            return failure
        said = f"it was carried out and gave {got!r}, where it must fail as {' or '.join(kinds)}"
        self.expect(False, said, pending.entry, fails=list(kinds))
        raise AssertionError
