"""Known defects of PyTorch 2.13's distributed autograd, each as a claim: violated under TORCH, held under SOUND.

As for RRefs, a claim is a property together with the smallest bounds in which PyTorch's rules break it. `spec/autograd.md`
has the evidence from PyTorch itself.
"""

from __future__ import annotations

from typing import Final

from farref.model.autograd.world import Bounds
from farref.model.checker.interface import Kind
from farref.properties.autograd import always as holds
from farref.properties.autograd.families import per_pair, per_pass, per_worker
from farref.properties.build import make_claim

_LIST: Final = (
    make_claim(
        "D1",
        "an unused call makes backward wait for ever",
        "A14",
        Bounds("unused-call"),
        Kind.EVENTUALLY,
        per_pass(holds.every_pass_ends),
        text="The root waits for the gradient of a call whose result nobody uses. It never comes, and no timer runs.",
    ),
    make_claim(
        "D2",
        "a pass that fails leaves a worker in it",
        "A18",
        Bounds("unused-result", timeouts=1),
        Kind.EVENTUALLY,
        per_worker(holds.every_worker_leaves),
        text="The caller gives up, and the worker that waits for the gradient of an unused result is never told.",
    ),
    make_claim(
        "D3",
        "a late gradient starts a phantom pass",
        "A12",
        Bounds("two-returns", timeouts=1),
        Kind.ALWAYS,
        per_pass(holds.no_pass_goes_on_where_it_ended),
        text="A gradient arrives at the root after backward has raised there, and is taken for the first of a new pass.",
    ),
    make_claim(
        "D4",
        "a gradient appears after backward has raised",
        "A17",
        Bounds("chain", timeouts=1),
        Kind.ALWAYS,
        per_worker(holds.a_failed_pass_shows_nothing),
        text="Gradients are added to those that can be seen as they come, whatever becomes of the pass.",
    ),
    make_claim(
        "D5",
        "the pass after a failed one returns a wrong gradient",
        "A12",
        Bounds("diamond", passes=2, timeouts=1),
        Kind.ALWAYS,
        per_worker(holds.a_failed_pass_leaves_nothing_to_others),
        text="What is left of a pass that failed is added to the next one, which returns without an error.",
    ),
    make_claim(
        "D6",
        "a late call resurrects a released context",
        "A25",
        Bounds("there-and-back", forward=True, release=True),
        Kind.ALWAYS,
        per_worker(holds.a_forgotten_context_stays_forgotten),
        text="A call arrives after its context was released here, and makes it anew; nobody will release it again.",
    ),
    make_claim(
        "D7",
        "a released context is never forgotten",
        "A25",
        Bounds("there-and-back", forward=True, release=True),
        Kind.EVENTUALLY,
        per_worker(holds.a_released_context_is_forgotten),
        text="The message that ends a context overtakes the call that begins it: there is nothing to end yet.",
    ),
    make_claim(
        "D8",
        "one end of a pair is recorded without the other",
        "A7",
        Bounds("there-and-back", forward=True, detached=1),
        Kind.ALWAYS,
        per_pair(holds.every_recv_has_its_send),
        text="Each end asks its own thread whether gradients are recorded; where they differ, a gradient finds no send.",
    ),
    make_claim(
        "D9",
        "a worker stays in a pass whose context is released",
        "A24",
        Bounds("unused-call", release=True),
        Kind.ALWAYS,
        per_worker(holds.no_pass_survives_its_context),
        text="A release removes the context and stops no pass: the worker is in it for as long as the process lives.",
    ),
)

CLAIMS: Final = {claim.id: claim for claim in _LIST}
"""Every claim by its id."""
