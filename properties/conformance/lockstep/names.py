"""Which id is which: the model's names of a run, and the ids of a backend beside them.

The model numbers RRefs and forks; a backend mints ids (R2) and says which in the steps that mint. So does it with control
messages: it shows the number of each, and an answer names the number only.
"""

from __future__ import annotations

from dataclasses import dataclass

from farref.model.ids import worker_name
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds
from farref.properties.conformance.kit.steps import LookedMessage

CONTROL = frozenset({"ForkRequest", "ChildAccept", "UserDelete", "CreateFailed"})
ACK = "Ack"


@dataclass(frozen=True)
class Reference:
    """A reference as its holder has it; on the owner there is no fork."""

    worker: str
    rref: str
    fork: str | None


class Names:
    """The names given so far."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.workers = sorted(worker_name(one) for one in bounds.worker_ids)
        self.forks: dict[ForkId, Reference] = {}
        self._rrefs: dict[RRefId, str] = {}
        self._rref_names: dict[str, str] = {}
        self._fork_names: dict[str, str] = {}
        self._minted = [0] * bounds.rrefs
        self._numbered: dict[tuple[str, str, int | None], tuple[str, str]] = {}

    def owner(self, rref: RRefId) -> str:
        """Name the worker that owns an RRef."""
        return worker_name(self.bounds.owner(rref))

    def owned(self, rref: RRefId) -> Reference:
        """Give an RRef as its owner has it."""
        return Reference(self.owner(rref), self._rrefs[rref], None)

    def enter_rref(self, rref: RRefId, found: str) -> None:
        """Write down the id of an RRef that has just been made."""
        if found in self._rref_names:
            raise ValueError(f"the id {found} is that of {self._rref_names[found]} already (R2)")
        self._rrefs[rref] = found
        self._rref_names[found] = f"x{rref}"

    def enter_fork(self, rref: RRefId, found: str, holder: str) -> None:
        """Write down the id of a fork that has just been minted: the next one of its RRef."""
        if found in self._fork_names:
            raise ValueError(f"the id {found} is that of {self._fork_names[found]} already (R2)")
        fork = ForkId(self.bounds.creator_fork(rref) + self._minted[rref])
        self._minted[rref] += 1
        self.forks[fork] = Reference(holder, self._rrefs[rref], found)
        self._fork_names[found] = f"f{fork}"

    def rref(self, found: str) -> str:
        """Name an RRef, or say that nobody made it."""
        return self._rref_names.get(found) or f"unknown {found}"

    def fork(self, found: str | None) -> str:
        """Name a fork, or say that nobody minted it."""
        return self._fork_names.get(found or "") or f"unknown {found}"

    def message(self, seen: LookedMessage) -> tuple[str, str]:
        """Name a message as the model does: its kind, and its fork."""
        if seen.kind == ACK:
            kind, fork = self._numbered.get((seen.target, seen.source, seen.number), ("nothing", "nothing"))
            return f"Ack({kind})", fork
        named = (seen.kind, self.fork(seen.fork))
        if seen.kind in CONTROL:
            self._numbered[seen.source, seen.target, seen.number] = named
        return named
