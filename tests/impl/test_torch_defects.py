"""The defects of PyTorch's RRef protocol (spec/differences.md), each played between real processes, each with a good end.

After every test all tables of all workers become empty: whatever happened, nothing is left.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from random import Random

import pytest

from farref.impl import (
    Cluster,
    ReferenceRefused,
    RefusedCall,
    RefusedFunction,
    RefusedValue,
    RpcTimeout,
    RRef,
    get_debug_info,
    launch,
    remote,
    rpc_async,
    rpc_sync,
)
from tests.impl.far import faults
from tests.impl.far import references as far
from tests.impl.settling import eventually, settle


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(
        ["A", "B", "C"], allow=["tests.impl.far.references", "tests.impl.far.faults"], rpc_timeout=20
    ) as cluster:
        for name in cluster.names:
            rpc_sync(name, faults.hurry)
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_left(world: Cluster) -> Iterator[None]:
    yield
    faults.heal()
    settle(world.names)


def phase_on(owner: str) -> str:
    """How far the only entry of a worker has come."""
    (phase,) = rpc_sync(owner, far.phases)
    return str(phase)


def refuses_all_use(x: RRef, error: type[Exception], why: str | None = None) -> None:
    """An RRef can be neither fetched, nor shared, nor used where its value would be."""
    with pytest.raises(error, match=why):
        x.to_here()
    with pytest.raises(error, match=why):
        rpc_sync("C", far.fetch, [x])
    with pytest.raises(error, match=why):
        x.rpc_sync().anything()


def test_R21_N1_early_use_survives_a_brief_third_party() -> None:
    """B's code waits for a value while its function runs; C gets the RRef, and drops it.
    Nobody is counted but the creator, and the one who waits gets the value that everybody else gets."""
    x = remote("B", far.held_back, ["value"])
    early = rpc_async("B", far.local, [x])
    rpc_sync("C", far.confirmed, [x])
    eventually(lambda: rpc_sync("C", far.tables) == (0, 0, 0, 0))
    rpc_sync("B", far.release)
    assert early.wait() == x.to_here() == "value"


def test_R21_N1_early_use_survives_a_third_party_even_before_the_creation() -> None:
    """The same, but the creation itself is late: C has come and gone before B has heard of the RRef from its creator.
    B keeps the entry that it expects, although no fork of it is counted."""
    faults.delay("RemoteCall", 1.0)
    x = remote("B", far.echo, ["value"])
    early = rpc_async("B", far.local, [x])
    rpc_sync("C", far.confirmed, [x])
    eventually(lambda: rpc_sync("C", far.tables) == (0, 0, 0, 0))
    assert phase_on("B") == "expected"
    assert early.wait() == x.to_here() == "value"
    assert faults.heal() == {"RemoteCall": 1}


@pytest.mark.parametrize("late", [False, True], ids=["running", "not yet created"])
def test_R21_N1b_the_early_user_passes_it_to_its_own_worker(late: bool) -> None:
    """B's early code passes the RRef to B itself, which counts a fork and takes it off again.
    That fork was the only one; the entry stays, and both get the value."""
    if late:
        faults.delay("RemoteCall", 0.5)
    x = remote("B", far.slow, [0.3, "value"])
    assert rpc_sync("B", far.pass_to_self, [x]) == "value"


def test_R27_N2_a_creation_that_timed_out_leaves_nothing_on_its_owner() -> None:
    """A creation is late, its creator times out and lets go; only then does the owner hear of it.
    The creator stays until it is answered, and deletes what was created after all."""
    faults.delay("RemoteCall", 0.6)
    x = remote("B", far.echo, [1], timeout=0.1)
    eventually(lambda: get_debug_info().users[0].timed_out)
    refuses_all_use(x, ReferenceRefused, "timed out")
    del x
    (user,) = get_debug_info().users
    assert not user.handles
    assert not user.confirmed
    eventually(lambda: not get_debug_info().users)
    assert faults.heal() == {"RemoteCall": 1}


def test_R10_N2_a_slow_function_times_nobody_out() -> None:
    """The function takes longer than the creation's timeout.
    The creation was answered on receipt, so it has not timed out, and the value comes when it comes."""
    x = remote("B", far.slow, [0.3, "value"], timeout=0.1)
    assert x.to_here() == "value"


def test_R27_N3_each_timeout_marks_the_rref_it_is_about() -> None:
    """Two creations time out, one after the other; a third does not.
    The first two are refused and say which they are, the third works."""
    faults.delay("RemoteCall", 0.6, count=2)
    first, second = (remote("B", far.echo, [n], timeout=0.1) for n in range(2))
    third = remote("B", far.echo, ["value"])
    eventually(lambda: [user.timed_out for user in get_debug_info().users] == [True, True, False])
    for late in (first, second):
        with pytest.raises(ReferenceRefused, match=rf"{late.id.number}\) timed out"):
            late.to_here()
    assert third.to_here() == "value"


def shared() -> tuple[RRef, RRef]:
    """An RRef of this worker and one of another."""
    theirs = remote("B", far.echo, [1])
    eventually(theirs.confirmed_by_owner)
    return RRef(1), theirs


def test_R28_N4_a_message_that_cannot_be_written_leaves_no_fork() -> None:
    """Two RRefs are written into a message, and then something that cannot be.
    No fork is counted here and no parent is pinned, from that moment on."""
    mine, theirs = shared()
    with pytest.raises(RefusedValue):
        rpc_sync("C", far.echo, [mine, theirs, object()])
    tables = get_debug_info()
    assert not tables.entries[0].forks
    assert not tables.users[0].children
    del mine, theirs


@pytest.mark.parametrize("missing", ["os:system", "tests.impl.far.references:no_such_function"])
def test_R28_N4_a_function_that_the_callee_lacks_leaves_no_fork(missing: str) -> None:
    """The message arrives, but the callee has no such function.
    It lets the forks go again, and the caller is told."""
    mine, theirs = shared()
    with pytest.raises(RefusedFunction):
        rpc_sync("C", missing, [mine, theirs])
    eventually(lambda: not (get_debug_info().entries[0].forks or get_debug_info().users[0].children))
    del mine, theirs


def test_R28_N4_a_message_that_cannot_be_read_leaves_no_fork() -> None:
    """The message arrives, but its receiver cannot read it.
    It takes on none of the forks and says so; both are withdrawn."""
    mine, theirs = shared()
    faults.spoil("Call")
    with pytest.raises(RefusedCall, match="cannot be read"):
        rpc_sync("C", far.echo, [mine, theirs])
    tables = get_debug_info()
    assert not tables.entries[0].forks
    assert not tables.users[0].children
    assert faults.heal() == {"Call": 1}
    del mine, theirs


def test_R29_N5_a_creation_that_cannot_be_read_has_an_error_for_its_value() -> None:
    """The owner cannot read the arguments of a creation, among which is an RRef.
    The creation counts all the same: its value is an error, its creator is confirmed, the RRef among them is withdrawn."""
    mine = RRef(1)
    faults.spoil("RemoteCall")
    x = remote("B", far.echo, [mine])
    with pytest.raises(RefusedCall, match="cannot be read"):
        x.to_here()
    with pytest.raises(RefusedCall, match="cannot be read"):
        rpc_sync("C", far.fetch, [x])
    assert x.confirmed_by_owner()
    eventually(lambda: not get_debug_info().entries[0].forks)
    assert faults.heal() == {"RemoteCall": 1}
    del mine


@pytest.mark.parametrize("target", [far.fail, "os:system"])
def test_R29_N5_a_creation_that_fails_has_an_error_for_its_value(target: object) -> None:
    """The function of a creation raises, or is none that may be called.
    Whoever asks for the value gets the error, here and on the owner."""
    x = remote("B", target, ["why"])  # type: ignore[arg-type]
    expected = ValueError if target is far.fail else RefusedFunction
    refuses_all_use(x, expected)
    with pytest.raises(expected):
        rpc_sync("B", far.local, [x])
    del x


def test_R31_N6_confirmed_by_owner_is_the_truth() -> None:
    """A fork that came from its owner is counted; a creation that timed out is not, until it is.
    PyTorch says the opposite of both."""
    assert RRef(1).confirmed_by_owner()
    assert rpc_sync("A", far.confirmed, [RRef(1)])
    assert rpc_sync("B", far.make, [1]).confirmed_by_owner()
    faults.delay("RemoteCall", 0.5)
    x = remote("B", far.echo, [1], timeout=0.1)
    eventually(lambda: get_debug_info().users[0].timed_out)
    assert not x.confirmed_by_owner()
    eventually(x.confirmed_by_owner)
    assert rpc_sync("B", far.tables)[:2] == (1, 1)


def test_R30_N7_a_fork_request_that_is_lost_ever_again_ends_nobody() -> None:
    """C's request to be counted is lost twenty times, which is more often than PyTorch tries.
    Meanwhile the request is listed as unanswered; when one arrives at last, the function runs."""
    x = remote("B", far.echo, ["value"])
    rpc_sync("C", faults.lose, ["ForkRequest", 20])
    parked = rpc_async("C", far.fetch, [x])
    eventually(lambda: rpc_sync("C", far.unanswered) == [["B", "ForkRequest"]])
    assert parked.wait() == "value"
    assert rpc_sync("C", faults.heal) == {"ForkRequest": 20}


@pytest.mark.parametrize("kind", ["UserDelete", "ChildAccept"])
def test_R6_N7_deletes_and_accepts_that_are_lost_come_again(kind: str) -> None:
    """C's delete, or what it tells the parent, is lost ten times.
    Sooner or later one arrives, and nothing is left."""
    x = remote("B", far.echo, ["value"])
    rpc_sync("C", faults.lose, [kind, 10])
    assert rpc_sync("C", far.fetch, [x]) == "value"
    del x
    eventually(lambda: not get_debug_info().users)
    eventually(lambda: rpc_sync("C", far.tables) == (0, 0, 0, 0))
    assert rpc_sync("C", faults.heal) == {kind: 10}


def test_R7_N9_a_copy_of_a_fork_request_that_comes_after_the_delete_counts_nobody() -> None:
    """C's request to be counted arrives, C lets go and is deleted; then a copy of the request arrives.
    The owner has processed it before, and counts nobody."""
    x = remote("B", far.echo, ["value"])
    rpc_sync("C", faults.repeat, ["ForkRequest", 0.4])
    assert rpc_sync("C", far.fetch, [x]) == "value"
    eventually(lambda: rpc_sync("C", far.tables) == (0, 0, 0, 0))
    eventually(lambda: rpc_sync("C", faults.copies_sent) == 1)
    assert rpc_sync("B", far.tables)[:2] == (1, 1)
    assert rpc_sync("C", faults.heal) == {"ForkRequest": 1}


def test_R11_N10_a_delete_that_arrives_with_the_creation_loses_no_entry() -> None:
    """C gets the RRef and drops it at about the moment in which the creation arrives: a little earlier, a little later.
    The entry and its creator's fork appear in one step, so every value is still there to be fetched."""
    random = Random(10)
    for number in range(30):
        faults.delay("RemoteCall", random.uniform(0, 0.03))
        x = remote("B", far.echo, [number])
        rpc_sync("C", far.confirmed, [x])
        assert x.to_here() == number
    assert faults.heal() == {"RemoteCall": 30}


def test_R18_F6_a_parent_goes_while_the_function_it_called_still_runs() -> None:
    """A function on C holds the RRef that it was given, and does not end.
    Its parent was accepted before it began, and goes."""
    x = remote("B", far.echo, [1])
    x.to_here()
    running = rpc_async("C", far.held_back, [x])
    del x
    eventually(lambda: not get_debug_info().users)
    assert not running.done()
    rpc_sync("C", far.release)
    assert isinstance(running.wait(), RRef)


def test_R20_N15_a_fetch_whose_caller_gave_up_ends() -> None:
    """The caller of a fetch gives up and drops its RRef while the owner's function still runs.
    The fetch pins its user until it is answered, and then both go."""
    x = remote("B", far.held_back, ["late"])
    with pytest.raises(RpcTimeout):
        x.to_here(timeout=0.1)
    del x
    gc.collect()
    eventually(lambda: [(user.handles, user.fetches_abandoned) for user in get_debug_info().users] == [(0, 1)])
    assert rpc_sync("B", far.tables)[:2] == (1, 1)
    rpc_sync("B", far.release)
    eventually(lambda: not get_debug_info().users)
