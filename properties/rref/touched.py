"""What a step has touched: the cases of a property about anything else hold as they did before.

A case about an RRef may read the owner's record of it, what the application knows of it, and all about its forks. A case about
a fork may read the fork's record and messages, what the application knows of it, the record of its parent, whether shutdown has
begun, and of the owner's record how far the entry has come and what it says of this fork. Tests look for a case that changes
where nothing was touched (`test_safety.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import compress, count
from operator import is_not

from farref.model.rref.application import Application
from farref.model.rref.ids import ForkId
from farref.model.rref.network import Network
from farref.model.rref.owner import OwnerRRef
from farref.model.rref.world import Bounds, World


def touched(bounds: Bounds) -> Callable[[World, World], list[str]]:
    """Give what says which RRefs and forks two worlds differ in."""
    forks = [f"fork f{fork}" for fork in range(bounds.forks_total)]
    rrefs = [f"RRef x{rref}" for rref in range(bounds.rrefs)]
    of = [bounds.rref_of(ForkId(fork)) for fork in range(bounds.forks_total)]

    def names(before: World, after: World) -> list[str]:
        if before.closing != after.closing:
            return rrefs + forks
        owners = differing(before.owners, after.owners)
        changed = {*differing(before.users, after.users), *differing(before.lineage, after.lineage)}
        changed |= _about(before.network, after.network)
        changed |= {fork for fork, data in enumerate(after.lineage) if data.parent in changed}
        old_application, new_application = before.application, after.application
        if old_application is not new_application:
            changed.update(differing(old_application.has, new_application.has))
            changed.update(differing(old_application.asks, new_application.asks))
        for rref in owners:
            old, new = before.owners[rref], after.owners[rref]
            if old.phase is not new.phase or old.registering != new.registering:
                changed.update(fork for fork, one in enumerate(of) if one == rref)
            changed |= _of_owner(old, new)
        about = {of[fork] for fork in changed}.union(owners, _on_owners(old_application, new_application))
        return [rrefs[rref] for rref in about] + [forks[fork] for fork in changed]

    return names


def differing(before: Iterable[object], after: Iterable[object]) -> list[int]:
    """List the places at which two tables have other records. One that was not written is the very same."""
    if before is after:
        return []
    return list(compress(count(), map(is_not, before, after)))


def _about(before: Network, after: Network) -> set[int]:
    """List the forks about which another message is under way, unanswered or processed."""
    found = set[int]()
    if before is not after:
        for old, new in zip(before[:3], after[:3], strict=True):
            for kind in differing(old, new):
                found.update(differing(old[kind], new[kind]))
    return found


def _on_owners(before: Application, after: Application) -> list[int]:
    """List the RRefs that code on their owner holds, or waits for, now or before."""
    if before is after:
        return []
    pairs = zip(before[:3], after[:3], strict=True)
    return [rref for old, new in pairs for rref in differing(old, new)]


def _of_owner(old: OwnerRRef, new: OwnerRRef) -> set[int]:
    """List the forks of which an owner says something else."""
    return {*differing(old.forks, new.forks), *differing(old.fetches, new.fetches)}
