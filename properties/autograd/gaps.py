"""What is lost where a link breaks, both ends live, and each takes the other for dead: each as a claim.

That is A21 without A29: nobody else is told. Without `only_views_declare_dead` the rules break each claim; with it they keep
all of them. `properties/rref/gaps.py` has the same for RRefs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from farref.model.autograd.world import Bounds
from farref.model.checker.interface import Kind
from farref.properties.autograd import always as holds
from farref.properties.autograd.families import per_pass, per_worker
from farref.properties.build import make_claim

_LIST: Final = (
    make_claim(
        "C3",
        "backward returns, and a living worker has no gradient",
        "A29",
        Bounds("CB: B>r0 s0>C", cuts=1),
        Kind.ALWAYS,
        per_worker(holds.one_pass_gives_the_gradient),
        text="The root takes a worker that was to commit for dead, and so for committed; it lives, and has left the pass.",
    ),
    make_claim(
        "C4",
        "a link that breaks elsewhere makes backward wait for ever",
        "A29",
        Bounds("CB BA: A>r1 s1>r0 s0>C", cuts=1),
        Kind.EVENTUALLY,
        per_pass(holds.every_pass_ends),
        text="A gradient is lost between two workers, and the root is told of no death: it waits for a report.",
    ),
    make_claim(
        "C5",
        "a link that breaks elsewhere leaves a worker in its pass",
        "A29",
        Bounds("CB BA: A>r1 s1>r0 s0>C", cuts=1),
        Kind.EVENTUALLY,
        per_worker(holds.every_worker_leaves),
        text="The worker that sent the lost gradient waits, as the root does, for the end of a pass that cannot end.",
    ),
    make_claim(
        "C6",
        "a released context is never forgotten after a link broke",
        "A29",
        Bounds("AB BC: A>A", cuts=1, forward=True, release=True),
        Kind.EVENTUALLY,
        per_worker(holds.a_released_context_is_forgotten),
        text="A call is lost between two workers, and the creator, which is told of no death, waits for it to be settled.",
    ),
)

GAPS: Final = {claim.id: replace(claim, without="only_views_declare_dead") for claim in _LIST}
"""Every claim by its id."""
