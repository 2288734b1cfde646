"""What must hold of the RRef protocol, whoever runs it and whatever the network does.

The names P1 to P8, G1 and G2 are those of the discussion around PyTorch's design note; P9 to P12 and G3 are ours. Each
property is a sentence and a family of small predicates, one for each fork or RRef, so that a violation says which one it was.
The order is that of severity: where a run breaks several, the first one listed is told.

Who holds what and who waits for it is asked of the application (`model/rref/application.py`), not of the tables' own flags.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from farref.model.checker.interface import Kind, Property
from farref.model.rref.actions import FetchValue, UserShare
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import (
    CONTROL,
    Call,
    CallFailed,
    ChildAccept,
    CreateFailed,
    FetchCall,
    FetchReturn,
    ForkRequest,
    RemoteCall,
    RemoteFailed,
    Return,
    UserAccept,
    UserDelete,
)
from farref.model.rref.network import is_under_way, is_waited_for
from farref.model.rref.owner import Entry, is_listed
from farref.model.rref.rules import SOUND
from farref.model.rref.steps import step
from farref.model.rref.user import Fetch, Handle, User
from farref.model.rref.world import Bounds, World
from farref.properties.build import make_property, per_world
from farref.properties.rref.families import per_fork, per_rref, per_worker
from farref.properties.rref.members.always import everybody_excluded_is_buried, the_buried_are_heard_by_nobody
from farref.properties.rref.members.excuses import (
    holder_is_buried,
    is_cut_off_from_its_parent,
    is_out,
    is_shut,
    owner_is_lost,
    value_is_lost,
)

# -- safety ------------------------------------------------------------------------------------------------------------


def one_entry_for_each_rref(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """P2: all code on the owner that uses an RRefId uses the same entry, and none waits on an entry that was dropped."""
    return rref not in world.application.orphaned and not world.owners[rref].duplicated


def no_entry_goes_while_the_owner_uses_it(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """P1, on the owner: no entry is dropped while code on the owner computes it, holds it or waits for it."""
    owner, application = world.owners[rref], world.application
    return owner.phase is not Entry.GONE or not (
        owner.running or rref in application.holds or rref in application.waits
    )


def no_entry_goes_while_a_fork_lives(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P1: no entry is dropped while a user of it lives, comes to somebody who will take it, or has a fetch under way."""
    rref = bounds.rref_of(fork)
    if world.owners[rref].phase is not Entry.GONE:
        return True
    return not (
        _user_lives(world, fork)
        or world.application.has[fork] is not Handle.NONE
        or (is_travelling(world, fork) and not is_cut_off_from_its_parent(world, fork, bounds))
        or _is_fetching(world, rref, fork)
    )


def every_counted_fork_is_accounted_for(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """G1: every fork that the owner counts lives, is on its way, or its `UserDelete` is under way."""
    rref = bounds.rref_of(fork)
    if fork not in world.owners[rref].forks:
        return True
    return (
        _user_lives(world, fork)
        or is_travelling(world, fork)
        or is_under_way(world.network, CallFailed, fork)
        or is_waited_for(world.network, UserDelete, fork)
    )


def no_parent_goes_before_its_child_is_counted(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """G2: the parent of a child the owner does not count yet lives, and knows of the child."""
    parent = world.lineage[fork].parent
    if parent is None:
        return True
    if world.users[fork].phase is not User.PENDING and not is_travelling(world, fork):
        return True
    return fork in world.users[parent].children


def counts_agree_when_nothing_is_under_way(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P10: when nothing is under way about a fork, the owner counts it exactly if its user lives."""
    rref = bounds.rref_of(fork)
    if (fork in world.owners[rref].forks) == _user_lives(world, fork) or world.owners[rref].registering:
        return True
    calls = (RemoteCall, UserAccept, RemoteFailed, Call, Return, CallFailed)
    controls = (ForkRequest, UserDelete, CreateFailed)
    return any(is_under_way(world.network, kind, fork) for kind in calls) or any(
        is_waited_for(world.network, kind, fork) for kind in controls
    )


def confirmed_means_counted(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P8: what `confirmed_by_owner()` says is right: yes only for a fork that is counted, and yes for one from the owner."""
    phase = world.users[fork].phase
    if phase is User.CONFIRMED:
        return fork in world.owners[bounds.rref_of(fork)].forks
    return phase is not User.UNTOLD


def a_copy_changes_nothing(world: World, bounds: Bounds) -> bool:
    """P6: a control message that arrives once more changes no table."""
    return not world.network.repeated


def no_user_waits_for_user_code(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P9: a pending user always has a message under way that settles it: counting never waits for a function to end."""
    if world.users[fork].phase is not User.PENDING:
        return True
    return (
        any(is_under_way(world.network, kind, fork) for kind in (RemoteCall, RemoteFailed, UserAccept))
        or is_waited_for(world.network, ForkRequest, fork)
        or is_waited_for(world.network, CreateFailed, fork)
        or world.owners[bounds.rref_of(fork)].registering
    )


def no_parent_waits_for_user_code(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P9, for parents: a child that has not accepted yet is on its way, is being counted, or its `ChildAccept` is under way."""
    parent = world.lineage[fork].parent
    if parent is None or fork not in world.users[parent].children:
        return True
    return (
        is_travelling(world, fork)
        or is_under_way(world.network, CallFailed, fork)
        or world.users[fork].phase is User.PENDING
        or is_waited_for(world.network, ChildAccept, fork)
    )


def the_owners_table_tells_the_truth(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """G3: code on the owner holds the RRef, or waits for its value, exactly if the owner's table says so."""
    owner, application = world.owners[rref], world.application
    return owner.held == (rref in application.holds) and owner.waiting == (rref in application.waits)


def the_users_table_tells_the_truth(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """G3, of users: a user has its handle and waits for its value exactly if its record says so, and no call runs too early."""
    user, application = world.users[fork], world.application
    return user.handle is application.has[fork] and (user.fetch is Fetch.WAITING) == (fork in application.asks)


def a_fetch_is_answered_with_a_value(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P11: a fetch is answered only with a value, or an error in its place, which is kept until the answer arrives."""
    rref = bounds.rref_of(fork)
    return not is_under_way(world.network, FetchReturn, fork) or world.owners[rref].phase is Entry.READY


def a_refused_use_is_refused(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P12: a handle whose creation timed out can be neither shared nor fetched, nor can any handle once shutdown has begun."""
    has = world.application.has[fork]
    if has is not Handle.TIMED_OUT and not (world.closing and has is Handle.HELD):
        return True
    uses = (FetchValue(fork), UserShare(fork, bounds.owner(bounds.rref_of(fork)), Call))
    return all(step(world, use, bounds, SOUND) is None for use in uses)


# -- liveness ----------------------------------------------------------------------------------------------------------


def nothing_is_left_of_the_entry(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """P3: once the application has let go, the owner's entry goes, and with it every count."""
    owner = world.owners[rref]
    return not is_listed(owner) and owner.forks.is_empty() and not (owner.running or owner.held or owner.registering)


def nothing_is_left_of_the_fork(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P3: once the application has let go, the user's record goes, and every control message about it is answered."""
    return not _user_lives(world, fork) and not any(is_waited_for(world.network, kind, fork) for kind in CONTROL)


def every_parked_call_runs(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P4: every call that waits for its arguments to be confirmed runs in the end."""
    return world.application.has[fork] is not Handle.PARKED


def every_fetch_is_answered(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """P5: every fetch is answered once the function that computes the value ends."""
    return not _is_fetching(world, bounds.rref_of(fork), fork)


def every_early_use_ends(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """P5, on the owner: all code that waits for the value gets it once the function that computes it ends."""
    return rref not in world.application.waits and rref not in world.application.orphaned


def shutdown_finds_empty_tables(world: World, bounds: Bounds) -> bool:
    """P7: a graceful shutdown ends: in the end every table is empty, on every worker."""
    if not world.closing:
        return True
    forks, rrefs = map(ForkId, range(bounds.forks_total)), map(RRefId, range(bounds.rrefs))
    return all(
        nothing_is_left_of_the_entry(world, rref, bounds) or owner_is_lost(world, rref, bounds) for rref in rrefs
    ) and all(
        nothing_is_left_of_the_fork(world, fork, bounds) or holder_is_buried(world, fork, bounds) for fork in forks
    )


# -- what the predicates share -----------------------------------------------------------------------------------------


def _user_lives(world: World, fork: ForkId) -> bool:
    return world.users[fork].phase is not User.ABSENT


def is_travelling(world: World, fork: ForkId) -> bool:
    """Say whether a fork is on its way to its holder."""
    return is_under_way(world.network, Call, fork) or is_under_way(world.network, Return, fork)


def _is_fetching(world: World, rref: RRefId, fork: ForkId) -> bool:
    return (
        fork in world.application.asks
        or fork in world.owners[rref].fetches
        or is_under_way(world.network, FetchCall, fork)
    )


# -- the list ----------------------------------------------------------------------------------------------------------


def rref_properties(bounds: Bounds) -> tuple[Property, ...]:
    """List the properties of a bounded world, the most severe first. With exclusions they are those of R46."""
    return (*_about_values(bounds), *_about_ends(bounds), *_about_records(bounds))


def _about_values(bounds: Bounds) -> Iterator[Property]:
    """List what keeps a value as long as anybody needs it, and every count right."""
    always = partial(make_property, bounds, Kind.ALWAYS)
    yield always("P2", "R21", per_rref(one_entry_for_each_rref, owner_is_lost))
    yield always(
        *("P1", "R22", per_rref(no_entry_goes_while_the_owner_uses_it, owner_is_lost)),
        per_fork(no_entry_goes_while_a_fork_lives, is_out),
        text="No entry is dropped while anybody needs it, on the owner or elsewhere.",
    )
    if bounds.exclusions:
        yield always("Vcut", "R46", per_worker(the_buried_are_heard_by_nobody))
    yield always("G1", "R33", per_fork(every_counted_fork_is_accounted_for, value_is_lost))
    yield always("G2", "R24", per_fork(no_parent_goes_before_its_child_is_counted, is_out))
    yield always("P10", "R33", per_fork(counts_agree_when_nothing_is_under_way, is_shut))
    yield always("P6", "R7", per_world(a_copy_changes_nothing))


def _about_ends(bounds: Bounds) -> Iterator[Property]:
    """List what becomes true in the end."""
    eventually = partial(make_property, bounds, Kind.EVENTUALLY)
    yield eventually(
        *("P3", "R26", per_rref(nothing_is_left_of_the_entry, owner_is_lost)),
        per_fork(nothing_is_left_of_the_fork, holder_is_buried),
        text="Once the application has let go, nothing is left of an RRef, on its owner or elsewhere.",
    )
    if bounds.exclusions:
        yield eventually("Vend", "R46", per_worker(everybody_excluded_is_buried))
    yield eventually(
        *("P5", "R20", per_rref(every_early_use_ends, owner_is_lost), per_fork(every_fetch_is_answered, is_out)),
        text="Whoever asks for a value is answered once the function that computes it ends.",
    )
    yield eventually("P4", "R16", per_fork(every_parked_call_runs, holder_is_buried))
    if bounds.shutdown:
        yield eventually("P7", "R32", per_world(shutdown_finds_empty_tables))


def _about_records(bounds: Bounds) -> Iterator[Property]:
    """List what tables and answers say."""
    always = partial(make_property, bounds, Kind.ALWAYS)
    yield always("P8", "R31", per_fork(confirmed_means_counted, is_out))
    yield always(
        *("G3", "R22", per_rref(the_owners_table_tells_the_truth), per_fork(the_users_table_tells_the_truth)),
        text="The tables tell the truth: what they say the application holds and waits for, it holds and waits for.",
    )
    yield always("P11", "R20", per_fork(a_fetch_is_answered_with_a_value, is_out))
    if bounds.timeouts or bounds.shutdown:
        yield always("P12", "R27", per_fork(a_refused_use_is_refused))
    yield always(
        *("P9", "R18", per_fork(no_user_waits_for_user_code, is_shut)),
        per_fork(no_parent_waits_for_user_code, is_cut_off_from_its_parent),
        text="Counting never waits for a function to end, neither for a user nor for its parent.",
    )
