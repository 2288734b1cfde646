"""What a step has touched: the cases of a property about anything else hold as they did before.

A case about a worker reads its record, one about a pair those of its two ends. Both may ask how the passes have ended, which
graph was recorded, who is dead and what was sent without recording. A case about a pass may ask for anything.
"""

from __future__ import annotations

from collections.abc import Callable

from farref.model.autograd.world import Bounds, World
from farref.model.ids import worker_name


def touched(bounds: Bounds) -> Callable[[World, World], list[str]]:
    """Give what says which workers, pairs and passes two worlds differ in."""
    workers = [f"worker {worker_name(who)}" for who in bounds.worker_ids]
    pairs = [f"pair {pair}" for pair in bounds.pair_ids]
    passes = [f"pass {number}" for number in bounds.pass_ids]

    def names(before: World, after: World) -> list[str]:
        if after.graph is None:
            return []
        if not _is_framed_alike(before, after):
            return [*workers, *pairs, *passes]
        records = zip(before.workers, after.workers, strict=True)
        changed = {who for who, (old, new) in enumerate(records) if old is not new}
        ends = bounds.catalogue[after.graph].pairs
        between = [name for name, pair in zip(pairs, ends, strict=True) if {pair.source, pair.target} & changed]
        return [*[workers[who] for who in sorted(changed)], *between, *passes]

    return names


def _is_framed_alike(before: World, after: World) -> bool:
    """Say whether two worlds agree on what a case about a worker or a pair may ask beside their records."""
    frame = (before.graph, before.dead, before.excluded, before.detached, before.released)
    if frame != (after.graph, after.dead, after.excluded, after.detached, after.released):
        return False
    passes = zip(before.passes, after.passes, strict=True)
    return before.passes is after.passes or all(
        old is new or (old.phase is new.phase and old.root == new.root and old.fault is new.fault)
        for old, new in passes
    )
