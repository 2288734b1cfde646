"""Known defects of PyTorch 2.13, each as a claim: it is violated under TORCH and holds under SOUND.

A claim is a property together with the smallest bounds in which PyTorch's rules break it, so its counterexample is the defect
and nothing else. The names N1, N2, ... are those of `spec/differences.md`, which has the evidence from PyTorch itself.
"""

from __future__ import annotations

from typing import Final

from farref.model.checker.interface import Kind
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import CallFailed, ChildAccept
from farref.model.rref.network import is_flying, is_unanswered, was_processed
from farref.model.rref.owner import Entry
from farref.model.rref.user import User
from farref.model.rref.world import Bounds, World
from farref.properties.build import make_claim
from farref.properties.rref import always as holds
from farref.properties.rref.families import per_fork, per_rref


def no_second_entry_gets_the_value(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """No second entry is made for an RRefId while somebody waits on the first."""
    return not (world.owners[rref].duplicated and rref in world.application.orphaned)


def no_entry_goes_while_its_creator_is_registered(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """No entry is dropped between being made and its creator being counted."""
    return world.owners[rref].phase is not Entry.GONE or not world.owners[rref].registering


def no_parent_waits_for_nobody(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """No parent waits for a child that nobody received, and nobody will."""
    rref, parent = bounds.rref_of(fork), world.lineage[fork].parent
    if parent is None or fork not in world.users[parent].children:
        return True
    accept = ChildAccept(rref, fork)
    return (
        world.users[fork].phase is not User.ABSENT
        or holds.is_travelling(world, fork)
        or is_flying(world.network, CallFailed(rref, fork))
        or is_unanswered(world.network, accept)
        or was_processed(world.network, accept)
    )


_LIST: Final = (
    make_claim(
        "N1",
        "two owner entries for one RRef",
        "R21",
        Bounds(workers=3, forks=3, owner_shares=False, self_shares=False),
        Kind.ALWAYS,
        per_rref(no_second_entry_gets_the_value),
        text="An early use waits on an entry that is erased as a third worker's fork comes and goes; a second gets the value.",
    ),
    make_claim(
        "N1b",
        "two owner entries, without a third worker",
        "R21",
        Bounds(workers=2, forks=3),
        Kind.ALWAYS,
        per_rref(no_second_entry_gets_the_value),
        text="The function that waits for the value passes the RRef to its own worker, which erases the entry it waits on.",
    ),
    make_claim(
        "N2",
        "a creation timeout leaks on the owner",
        "R27",
        Bounds(workers=2, forks=1, timeouts=1),
        Kind.EVENTUALLY,
        per_rref(holds.nothing_is_left_of_the_entry),
        text="The creator takes its timeout for an answer and deletes a fork that the owner counts only later, for ever.",
    ),
    make_claim(
        "N4",
        "a failed share is never withdrawn",
        "R28",
        Bounds(workers=3, forks=2, failures=1, self_shares=False),
        Kind.ALWAYS,
        per_fork(holds.every_counted_fork_is_accounted_for),
        per_fork(no_parent_waits_for_nobody),
        text="A fork whose message could not be sent or understood stays counted by the owner, or pins its parent, for ever.",
    ),
    make_claim(
        "N5",
        "a failed creation leaves its creator pending",
        "R29",
        Bounds(workers=2, forks=1, failures=1),
        Kind.EVENTUALLY,
        per_fork(holds.nothing_is_left_of_the_fork),
        text="A RemoteCall that could not be sent leaves the creator's record behind, and graceful shutdown waits for it.",
    ),
    make_claim(
        "N6",
        "confirmed_by_owner() is wrong in both directions",
        "R31",
        Bounds(workers=2, forks=1, timeouts=1),
        Kind.ALWAYS,
        per_fork(holds.confirmed_means_counted),
        text="A fork from the owner is never reported confirmed; a creator that timed out is, though not counted.",
    ),
    make_claim(
        "N7",
        "a fork request that is given up strands its call",
        "R30",
        Bounds(workers=3, forks=2, drops=1, self_shares=False),
        Kind.EVENTUALLY,
        per_fork(holds.every_parked_call_runs),
        text="When the retries of a ForkRequest are used up, the call that waits for it never runs.",
    ),
    make_claim(
        "N9",
        "a late copy resurrects a deleted fork",
        "R7",
        Bounds(workers=3, forks=2, duplicates=1, self_shares=False),
        Kind.ALWAYS,
        per_fork(holds.every_counted_fork_is_accounted_for),
        text="A copy of a ForkRequest arrives after its fork was deleted and registers it again; nobody is left to delete it.",
    ),
    make_claim(
        "N10",
        "an entry erased while its creator is being registered",
        "R11",
        Bounds(workers=3, forks=2, self_shares=False),
        Kind.ALWAYS,
        per_rref(no_entry_goes_while_its_creator_is_registered),
        text="Entry and creator's fork are registered in two steps; a delete between them erases a living creator's entry.",
    ),
    make_claim(
        "N15",
        "an abandoned fetch is parked for ever",
        "R20",
        Bounds(workers=2, forks=1, fetches=1, timeouts=1),
        Kind.EVENTUALLY,
        per_fork(holds.every_fetch_is_answered),
        text="A delete overtakes the fetch of a caller that gave up; the fetch waits for an entry that never comes back.",
    ),
    make_claim(
        "F1",
        "confirmation waits for user code",
        "R10",
        Bounds(workers=2, forks=1),
        Kind.ALWAYS,
        per_fork(holds.no_user_waits_for_user_code),
        text="The creator is counted only when its function ends, however long that takes.",
    ),
    make_claim(
        "F6",
        "a parent's deletion waits for user code",
        "R18",
        Bounds(workers=3, forks=2, self_shares=False),
        Kind.ALWAYS,
        per_fork(holds.no_parent_waits_for_user_code),
        text="The child accepts only when the function that received it ends, so the parent cannot be deleted before.",
    ),
)

CLAIMS: Final = {claim.id: claim for claim in _LIST}
"""Every claim by its id."""
