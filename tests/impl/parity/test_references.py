"""What PyTorch's own tests say of references, said of ours (spec/parity.md): creating, sharing, fetching, looking."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import time
from collections.abc import Callable, Iterator

import pytest

from farref.impl import (
    Cluster,
    ReferenceRefused,
    RpcTimeout,
    RRef,
    get_debug_info,
    get_worker_info,
    launch,
    remote,
    rpc_async,
    rpc_sync,
)
from tests.impl.far import faults
from tests.impl.far import objects as far_objects
from tests.impl.far import references as far
from tests.impl.settling import eventually, settle

ALLOWED = ["tests.impl.far.references", "tests.impl.far.objects", "tests.impl.far.faults", "_operator"]


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A", "B", "C"], allow=ALLOWED, rpc_timeout=20) as cluster:
        for name in cluster.names:
            rpc_sync(name, faults.hurry)
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_left(world: Cluster) -> Iterator[None]:
    yield
    faults.heal()
    settle(world.names)


# Creating and fetching


@pytest.mark.parametrize("owner", ["B", "driver"])
def test_remote_and_fetch_by_builtin_and_by_function(owner: str) -> None:
    assert remote(owner, operator.add, [1, 2]).to_here() == 3
    assert remote(owner, far_objects.add, kwargs={"a": 1, "b": 2}).to_here() == 3
    many = [remote(owner, far_objects.add, [number], {"b": number}) for number in range(10)]
    assert [rref.to_here() for rref in many] == [2 * number for number in range(10)]


def test_local_value_on_the_owner_is_the_value_itself() -> None:
    value = ["kept as it is"]
    assert RRef(value).local_value() is value
    assert RRef(35).local_value() == 35
    assert remote("driver", operator.add, [1, 2]).local_value() == 3


@pytest.mark.parametrize("owner", ["B", "driver"])
@pytest.mark.parametrize(
    ("function", "error"),
    [(far.fail, ValueError), (far.fail_custom, far.CustomError), (far_objects.failing_later, ZeroDivisionError)],
)
def test_an_error_of_a_remote_function_comes_with_its_type_when_fetched(
    owner: str, function: Callable[[], object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        remote(owner, function).to_here()


def test_a_fetch_times_out_and_a_second_one_succeeds() -> None:
    x = remote("B", far.held_back, ["value"])
    with pytest.raises(RpcTimeout):
        x.to_here(timeout=0.01)
    rpc_sync("B", far.release)
    assert x.to_here() == "value"


# References as arguments and results


@pytest.mark.parametrize("to", ["B", "driver"])
def test_a_reference_to_ones_own_value_is_an_argument_of_every_kind_of_call(to: str) -> None:
    for x in (remote("driver", far_objects.add, [1, 2]), RRef(3)):
        assert rpc_sync(to, far.fetch, [x]) == 3
        assert rpc_async(to, far.fetch, [x]).wait() == 3
        assert remote(to, far.fetch, [x]).to_here() == 3
        assert rpc_sync(to, far_objects.add, kwargs={"a": 1, "b": 2}) == 3


def test_two_references_go_to_their_owner_and_to_a_third_worker() -> None:
    a, b = remote("B", far_objects.add, [1, 1]), remote("B", far_objects.add, [2, 2])
    assert remote("B", far_objects.local_and_add, [a, b]).to_here() == 6
    assert rpc_sync("B", far_objects.local_and_add, [a, b]) == 6
    assert remote("C", far_objects.fetch_and_add, [a, b]).to_here() == 6
    assert rpc_sync("C", far_objects.fetch_and_add, [a, b]) == 6


def test_a_remote_function_creates_and_fetches_in_its_turn() -> None:
    assert remote("B", far_objects.remote_and_fetch, ["C", 1, 2]).to_here() == 3
    assert rpc_sync("A", far_objects.spread, ["B", ["A", "B", "C", "driver"]]) == [4, 4, 4, 4]


@pytest.mark.parametrize("times", [1, 20])
def test_a_value_that_is_a_pair_of_references(times: int) -> None:
    outer = [remote("B", far_objects.pair_of_references, ["C", n, n + 1]) for n in range(times)]
    pairs = [rref.to_here() for rref in outer]
    assert [(a.to_here(), b.to_here()) for a, b in pairs] == [(2 * n, 2 * n + 2) for n in range(times)]


def test_a_call_returns_a_reference_that_a_third_worker_owns() -> None:
    x = rpc_sync("B", far.create, ["C", "value"])
    assert x.owner_name() == "C"
    assert x.to_here() == "value"


def test_a_reference_is_forwarded_along_eight_workers() -> None:
    hops = ["A", "B", "C", "driver"] * 2
    back = far_objects.forward(hops, RRef("value"))
    for _ in hops:
        back = back.to_here()
    assert back.to_here() == "value"


def test_references_that_a_callee_made_are_changed_through_their_owner() -> None:
    lists = rpc_sync("B", far_objects.local_references, [[[], []]])
    for number, rref in enumerate(lists):
        rpc_sync(rref.owner(), far_objects.append_to, [rref, number])
    assert [rref.to_here() for rref in lists] == [[0], [1]]


def test_a_method_is_called_through_the_owner_in_every_kind_of_call() -> None:
    x = remote("B", far_objects.Thing, [3])
    arguments = [x, "get"]
    assert rpc_sync(x.owner(), far_objects.call_on, arguments) == 3
    assert rpc_async(x.owner(), far_objects.call_on, arguments).wait() == 3
    assert remote(x.owner(), far_objects.call_on, arguments).to_here() == 3


@pytest.mark.parametrize("how", ["sync", "remote"])
def test_references_among_arguments_are_confirmed_when_the_function_runs(how: str) -> None:
    rrefs = [remote("B", far.echo, [n]) for n in range(3)] + [RRef(3), remote("C", far.echo, [4])]
    if how == "sync":
        assert rpc_sync("C", far_objects.all_confirmed, [rrefs])
    else:
        assert remote("C", far_objects.all_confirmed, [rrefs]).to_here()


# What can be seen


def test_owners_are_equal_by_worker_and_are_keys() -> None:
    a, b, c = remote("B", far.echo, [1]), remote("B", far.echo, [2]), remote("C", far.echo, [3])
    assert a.owner() == b.owner() == get_worker_info("B")
    assert a.owner() != c.owner()
    assert {a.owner(): "B", c.owner(): "C"}[b.owner()] == "B"
    assert (a.owner_name(), a.owner().name, a.is_owner()) == ("B", "B", False)
    assert RRef(1).owner() == get_worker_info()


def test_local_value_on_a_user_names_both_workers() -> None:
    x = remote("B", far.echo, [1])
    with pytest.raises(ReferenceRefused, match=r"UserRRef\(.*\) is on driver: .*owner only, B"):
        x.local_value()


def test_what_a_reference_looks_like() -> None:
    own, used = RRef(1), remote("B", far.echo, [1])
    life = own.id.incarnation
    assert repr(own) == f"OwnerRRef(RRefId(0.{life}.{own.id.number}))"
    assert repr(used) == f"UserRRef(RRefId(0.{life}.{used.id.number}), ForkId(0.{life}.{used.id.number}))"


def test_references_are_neither_pickled_nor_copied() -> None:
    x = remote("B", far.echo, [1])
    for make in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(ReferenceRefused, match="neither copied nor pickled"):
            make(x)
    assert x.to_here() == 1


def test_debug_info_shows_every_table_and_whose_each_fork_is() -> None:
    x = RRef(1)
    (entry,) = get_debug_info().entries
    assert (entry.phase, entry.held, entry.forks) == ("ready", 1, ())
    rpc_sync("B", far.keep, [x])
    (entry,) = get_debug_info().entries
    assert [holder for _, holder in entry.forks] == [get_worker_info("B").id]
    assert get_debug_info().users == ()
    rpc_sync("B", far.drop)
    eventually(lambda: not get_debug_info().entries[0].forks)
    del x
    two = [remote("C", far.held_back, [n]) for n in range(2)]
    assert len(get_debug_info().users) == 2
    assert rpc_sync("C", far.tables)[:2] == (2, 2)
    fetching = rpc_async("B", far.fetch, [two[0]])
    eventually(lambda: rpc_sync("C", far.parked_fetches) == ["B"])
    rpc_sync("C", far.release)
    assert fetching.wait() == 0


def test_debug_info_shows_pinned_parents_parked_calls_and_what_nobody_answered() -> None:
    x = remote("B", far.echo, ["value"])
    eventually(x.confirmed_by_owner)
    rpc_sync("C", faults.lose, ["ForkRequest", 10**6])
    parked = rpc_async("C", far.fetch, [x])
    eventually(lambda: rpc_sync("C", far.parked_calls) == [["driver", "tests.impl.far.references:fetch"]])
    assert rpc_sync("C", far.unanswered) == [["B", "ForkRequest"]]
    (user,) = get_debug_info().users
    assert [holder for _, holder in user.children] == [get_worker_info("C").id]
    rpc_sync("C", faults.heal)
    assert parked.wait() == "value"
    eventually(lambda: not get_debug_info().users[0].children)
    del x


def test_a_reference_in_a_cycle_of_objects_goes_with_the_cycle() -> None:
    loop: list[object] = [remote("B", far.echo, [1])]
    loop.append(loop)
    del loop
    gc.collect()
    eventually(lambda: not get_debug_info().users)


# Creation that is lost or late


@pytest.mark.parametrize("target", [operator.add, far_objects.add], ids=["builtin", "function"])
def test_a_creation_that_timed_out_can_be_neither_fetched_nor_shared(target: object) -> None:
    faults.delay("RemoteCall", 0.5)
    late = remote("B", target, [1, 2], timeout=0.05)  # type: ignore[arg-type]
    eventually(lambda: get_debug_info().users[0].timed_out)
    with pytest.raises(ReferenceRefused, match=r"creation .* timed out"):
        late.to_here()
    with pytest.raises(ReferenceRefused, match=r"creation .* timed out"):
        rpc_sync("C", far.fetch, [late])
    slow = remote("B", far.slow, [0.3, "value"])
    with pytest.raises(RpcTimeout):
        slow.to_here(timeout=0.001)
    assert slow.to_here() == "value"
    assert faults.heal() == {"RemoteCall": 1}


def test_a_creation_on_oneself_does_not_time_out() -> None:
    x = remote("driver", far.slow, [0.2, "value"], timeout=0.05)
    time.sleep(0.1)
    assert x.local_value() == "value"


def test_every_control_message_is_lost_three_times_and_nothing_is_left() -> None:
    for name in ("A", "B", "C"):
        for kind in ("ForkRequest", "ChildAccept", "UserDelete"):
            rpc_sync(name, faults.lose, [kind, 3])
    x = rpc_sync("A", far.create, ["B", "value"])
    assert rpc_sync("C", far.pass_on, [x, "A"]) == "value"
    del x
    eventually(lambda: not get_debug_info().users)
    lost = [rpc_sync(name, faults.heal) for name in ("A", "B", "C")]
    assert any(counts.get("ForkRequest", 0) >= 3 for counts in lost)
    assert any(counts.get("UserDelete", 0) for counts in lost)
