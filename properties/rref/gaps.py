"""What the rules of RRefs do not keep where a link breaks, both ends live, and each takes the other for dead: each a claim.

That is R34 without R36: nobody else is told. Without `only_views_declare_dead` the rules break each claim; with it they keep
all of them. A claim is a property together with the smallest bounds in which it breaks, as in `claims.py`; but there the rules
are PyTorch's, and here they are ours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from farref.model.checker.interface import Kind
from farref.model.rref.ids import ForkId
from farref.model.rref.links import is_cut_off
from farref.model.rref.world import Bounds, World
from farref.properties.build import make_claim
from farref.properties.rref import always as holds
from farref.properties.rref.families import per_fork, per_rref


def nothing_is_left_where_nobody_is_lost(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Once the application has let go, a record goes on every worker to which nobody is dead."""
    holder = world.lineage[fork].holder
    is_excused = holder is not None and is_cut_off(world, holder)
    return is_excused or holds.nothing_is_left_of_the_fork(world, fork, bounds)


_LIST: Final = (
    make_claim(
        "C1",
        "a broken link pins a record on a third worker",
        "R36",
        Bounds(workers=3, forks=2, cuts=1, owner_shares=False, self_shares=False),
        Kind.EVENTUALLY,
        per_fork(nothing_is_left_where_nobody_is_lost),
        text="A child gives its fork up, as it has lost the owner, and does not tell its parent: the parent waits for ever.",
    ),
    make_claim(
        "C2",
        "a broken link keeps an entry for ever",
        "R36",
        Bounds(workers=2, forks=1, cuts=1, owner_shares=False),
        Kind.EVENTUALLY,
        per_rref(holds.nothing_is_left_of_the_entry),
        text="The owner goes on counting the fork of a user that it takes for dead; the user lives, and has let go.",
    ),
)

GAPS: Final = {claim.id: replace(claim, without="only_views_declare_dead") for claim in _LIST}
"""Every claim by its id."""
