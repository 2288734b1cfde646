"""Backends that go wrong when workers are alike, silent, cut off, killed or started again, each in one way."""

from __future__ import annotations

from typing import Any

from farref.properties.zoo.backends.wrong import wrong
from farref.properties.zoo.toy.honest import Honest
from farref.properties.zoo.toy.pausable import Pausable
from farref.properties.zoo.toy.references import Handle, References


@wrong("R2", "R2.owners R2.forked", asked="R2 R16 R20 R26")
class ConfusesOwners(Honest):
    """Who gets two references that have the same number on their owners takes them for one."""

    def number(self, entry: Any) -> Any:
        """Number the values of each owner, and leave out who the owner is."""
        return [one for one in self.table.entries if one.owner == entry.owner].index(entry)

    def passed_on(self, source: Handle, to: str) -> Handle:
        """Take what is there under the same number."""
        there = [one for one in self.handles[to].values() if one.entry in self.table.entries]
        same = [one for one in there if self.number(one.entry) == self.number(source.entry)]
        is_third = to not in (source.worker, source.entry.owner)
        return super().passed_on(same[0] if same and is_third else source, to)


@wrong("R2", "R2.forked", asked="R2 R16 R20 R26")
class ConfusesHeirlooms(ConfusesOwners):
    """Who gets two references to what was there before the workers takes them for one."""

    def number(self, entry: Any) -> Any:
        """Tell only the others apart: a value that is the name of its worker is an heirloom."""
        is_heirloom = entry.value.done() and entry.value.result() == entry.owner
        return "heirloom" if is_heirloom else id(entry)


@wrong("R36", "R36.cut", asked="R24.quick R26 R36")
class TakesACutForADeath(Honest):
    """A link that breaks is taken for the death of the worker at its other end."""

    def cut(self, worker: str, to: str) -> None:
        """Let go of what the other held."""
        for handle in list(self.handles[worker].values()):
            if handle.entry.owner == to:
                self.table.uncount(handle)


@wrong("R38", "R38.zombie", asked="R24.quick R38")
class WakesToNothing(Pausable):
    """A worker that was silent for too long is not told so: what it held is gone."""

    def overslept(self, worker: str) -> None:
        """Take everything from it."""
        for handle in self.handles[worker].values():
            self.table.uncount(handle)
        self.handles[worker].clear()


@wrong("R39", "R39.heir", asked="R34 R39")
class KeepsWhatAnHeirHad(Honest):
    """What came from a worker that died is never let go."""

    class Tables(References):
        """Tables that remember who was the child of the dead."""

        def bury(self, worker: str) -> None:
            """Count the heirs of a creator twice."""
            for entry in self.entries:
                holders = [one.worker for one in entry.forks if isinstance(one, Handle)]
                if holders[:1] == [worker] and len(holders) > 1:
                    entry.forks.append(entry)
            super().bury(worker)


@wrong("R41", "R34.freed R41.freed R42", asked="R24.quick R34.freed R41 R42")
class KeepsForDeadReceivers(Honest):
    """What a dead worker had made is given back, and what it was given is not."""

    class Tables(References):
        """Tables that know creators only."""

        def bury(self, worker: str) -> None:
            """Leave what others have passed on."""
            kept = [(entry, one) for entry in self.entries for one in entry.forks if isinstance(one, Handle)]
            for entry, one in kept:
                if one.worker == worker and one.is_received:
                    entry.forks[entry.forks.index(one)] = entry
            super().bury(worker)

    def passed_on(self, source: Handle, to: str) -> Handle:
        """Remember who has it from another."""
        fresh = super().passed_on(source, to)
        fresh.is_received = True
        return fresh


@wrong("R42", "R42.parent", asked="R34.freed R41 R42")
class PinsTheParent(Pausable):
    """A share that is under way when its receiver dies pins the value for ever."""

    def passed_on(self, source: Handle, to: str) -> Handle:
        """Never take back what was counted for a share."""
        try:
            return super().passed_on(source, to)
        except ConnectionError:
            source.entry.forks.append(source.entry)
            raise


@wrong("R43", "R43.owner", asked="R34.fetch R34.share R34.drop R43")
class KeepsOrphans(Honest):
    """A reference whose owner has died stays in the table of whoever had it."""

    def drop(self, worker: str, name: str) -> None:
        """Wait for the dead to count it no longer."""
        if self.handle(worker, name).entry.owner not in self.table.dead:
            super().drop(worker, name)

    def probe(self, worker: str, name: str | None) -> dict[str, Any]:
        """Count what waits for the dead."""
        counts = super().probe(worker, name)
        orphans = [one for one in self.handles[worker].values() if one.entry.owner in self.table.dead]
        return counts if name else {**counts, "pending": counts["pending"] + len(orphans)}


@wrong("R44", "R44.again", asked="R24.quick R44")
class InheritsFromTheDead(Honest):
    """A worker that is started again still has what the one before it owned."""

    class Tables(References):
        """Tables that go by names."""

        def lose(self, entry: Any) -> None:
            """Keep it."""
