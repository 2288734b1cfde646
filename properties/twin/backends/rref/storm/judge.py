"""What is right in a storm: the properties of `visible.py`, exact counts, values, and what may be left at the end.

A death takes from some RRefs what the properties rest on (R34). Of an RRef whose owner is dead nothing is asked. Where a holder
or the creator is dead, its forks stay counted and its children are not accounted for; but nobody alive may lose a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.rref.observation import Observation
from farref.properties.rref.visible import visible
from farref.properties.twin.backends.rref.impl_observer import name
from farref.properties.twin.backends.rref.storm.names import StormNames
from farref.properties.twin.backends.rref.storm.observer import StormObserver
from farref.properties.twin.backends.rref.storm.truth import StormTruth
from farref.properties.violation import Violation

AFTER_A_DEATH: Final = frozenset({"P1", "P8", "P11", "G3"})
"""What still holds of an RRef that somebody dead had a fork of."""


class ViolatedError(Exception):
    """Something is wrong; the lines say what."""

    def __init__(self, lines: tuple[str, ...], violated: tuple[Violation, ...] = ()) -> None:
        super().__init__("; ".join(lines))
        self.lines, self.violated = lines, violated


class Judge:
    """Judges a run after each move, and at its end."""

    def __init__(self, names: StormNames, truth: StormTruth, observer: StormObserver) -> None:
        self.names, self.truth, self.observer = names, truth, observer

    def after_move(self) -> None:
        """See that whatever must always hold does, of all that has changed."""
        self.truth.count()
        seen, changed = self.observer.look()
        changed |= self.truth.touched & set(self.names.created)
        self.truth.touched.clear()
        self._judge(seen, {rref for rref in changed if self.names.created[rref].owner not in self.truth.dead})

    def _judge(self, seen: Observation, rrefs: set[str]) -> None:
        there = self._there(seen)
        names = [f"RRef {rref}" for rref in rrefs]
        names += [f"fork {fork}" for rref in rrefs for fork in self.names.of[rref] if fork in there]
        found = tuple(one for one in visible(seen, self.truth, names) if self._is_asked(one))
        complaints = (*self.truth.complaints, *self._unconfirmed(seen), *self.observer.miscounted(rrefs))
        if found or complaints:
            raise ViolatedError((*map(str, found), *complaints), found)

    def _there(self, seen: Observation) -> set[str]:
        """Name the forks that anybody has, or speaks of. What is not there any more violates nothing."""
        found = {message.fork for message in seen.flying} | {fork for _, fork, _ in self.truth.fetches.values()}
        for worker in seen.workers:
            found.update(user.fork for user in worker.users)
            found.update(message.fork for message in worker.unanswered)
            found.update(fork for entry in worker.entries for fork, _ in entry.forks)
        return found.union(self.names.handle(reference) for _, reference in self.truth.counted)

    def _unconfirmed(self, seen: Observation) -> Iterator[str]:
        """List what has run before the owner counted all that it was given (R16)."""
        pending = {user.fork for worker in seen.workers for user in worker.users if user.state == "pending"}
        for carrier, references in self.truth.started:
            for handle in map(self.names.handle, references):
                if handle in pending:
                    yield f"{carrier} runs, and {handle} is not confirmed (R16)"
        self.truth.started.clear()

    def _is_asked(self, violation: Violation) -> bool:
        kind, _, about = violation.about.partition(" ")
        rref = about if kind == "RRef" else self.names.made[about].rref
        created, dead = self.names.created[rref], self.truth.dead
        holders = {self.names.made[fork].holder for fork in self.names.of[rref]}
        if not dead & {created.creator, *holders}:
            return True
        has_come = rref in self.truth.arrived or created.creator not in dead
        return violation.property in AFTER_A_DEATH and has_come

    # The end

    def at_the_end(self) -> None:
        """See that nothing is left, but for what the dead keep (R34), and that everybody got an answer."""
        seen, _ = self.observer.look()
        self._judge(seen, {rref for rref, one in self.names.created.items() if one.owner not in self.truth.dead})
        left = (*self._unanswered(), *self._left(seen))
        if left:
            raise ViolatedError(tuple(f"nothing more can happen, and {one}" for one in left))

    def _unanswered(self) -> Iterator[str]:
        truth = self.truth
        yield from (f"{call} neither ran nor failed" for call, ends in truth.calls.items() if not truth.dead & {*ends})
        yield from (f"{carrier} has arrived and never ran" for carrier in truth.promised)
        yield from (f"{fetch} has no answer" for fetch, _, _ in truth.fetches.values())
        yield from (f"code waits for {rref}" for rref in truth.waiters.values())

    def _left(self, seen: Observation) -> Iterator[str]:
        explained = self._kept_by_the_dead(seen)
        for worker in seen.workers:
            for entry in worker.entries:
                if entry.rref not in explained:
                    yield f"{worker.worker} has an entry of {entry.rref}, {entry.value}, with forks {dict(entry.forks)}"
            for user in worker.users:
                if user.fork not in explained:
                    yield f"{worker.worker} has {user.fork}, {user.state}, with children {dict(user.children)}"
            yield from (f"{worker.worker} waits for an answer to {one.label}" for one in worker.unanswered)
        if not self.truth.dead:
            yield from (
                f"the value of {rref} was not dropped" for rref in self.names.created if rref not in self.truth.dropped
            )

    def _kept_by_the_dead(self, seen: Observation) -> set[str]:
        """List the RRefs and forks that are there because of the dead: what they hold, what pins it, what its values hold."""
        dead, found, before = {name(one) for one in self.truth.dead}, set[str](), -1
        while len(found) > before:
            before = len(found)
            for worker in seen.workers:
                found |= {user.fork for user in worker.users if any(holder in dead for _, holder in user.children)}
                for entry in worker.entries:
                    if any(holder in dead or fork in found for fork, holder in entry.forks):
                        found.add(entry.rref)
            for rref, (_, held) in self.truth.values.items():
                if rref in found:
                    found |= set(map(self.names.handle, held))
        return found
