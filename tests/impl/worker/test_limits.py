"""Everything that a peer or a program can make grow has a limit, and an error that names it (`spec/limits.md`).

Most of this is shown on two workers without threads: a test lets each of them read, and runs what is to be run.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from farref.impl import LimitReached, Limits, RpcError, RRef, launch, remote, rpc_async, rpc_sync
from farref.impl.api import current
from farref.impl.core.core import Core
from farref.impl.core.effects import Value
from farref.impl.core.here import Load
from farref.impl.core.ids import FIRST_LIFE, ForkId, RRefId
from farref.impl.core.messages import Ack, Control, ForkRequest, UserDelete
from farref.impl.worker.connection import LATER
from tests.impl.far import greedy
from tests.impl.far import references as far
from tests.impl.settling import eventually
from tests.impl.worker.unthreaded import A, B, Make, exchange, outcome, read, run, settle

LARGE: Final = bytes(2**17)


BAD: Final = [
    ("queued_bytes_max", 0),
    ("received_bytes_max", 2**16 - 1),
    ("calls_max", 0),
    ("references_max", -1),
    ("references_max", 1.5),
    ("control_max", 4097),
    ("callbacks_max", None),
    ("threads_max", True),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_limit_that_cannot_work_is_refused_at_once(name: str, value: Any) -> None:
    with (
        pytest.raises(RpcError, match=f"^{name} is a number, .* and not {value}$"),
        launch(1, limits=Limits(**{name: value})),
    ):
        pass


def test_limits_of_another_kind_are_refused_at_once() -> None:
    with pytest.raises(RpcError, match="limits are Limits"), launch(1, limits={"calls_max": 1}):  # type: ignore[arg-type]
        pass


# Calls


def test_a_program_has_no_more_calls_without_an_answer_than_it_may(make: Make) -> None:
    a, b = make(Limits(calls_max=3))
    futures = [a.call("B", far.echo, [n], {}, None) for n in range(3)]
    with pytest.raises(LimitReached, match=r"of A have no answer: calls_max is 3$"):
        a.call("B", far.echo, [3], {}, None)
    exchange(a, b)
    assert [outcome(future) for future in futures] == [0, 1, 2]
    assert a.call("B", far.echo, [4], {}, None)


def test_nor_has_it_more_fetches(make: Make) -> None:
    a, b = make(Limits(calls_max=3))
    reference = a.remote("B", far.echo, [1], {}, None)
    futures = [a.fetch(reference.reference, None) for _ in range(3)]
    with pytest.raises(LimitReached, match=r"calls_max is 3$"):
        a.fetch(reference.reference, None)
    exchange(a, b)
    assert [outcome(future) for future in futures] == [1, 1, 1]
    del reference
    settle(a, b)


def test_R28_a_worker_refuses_what_is_too_much_and_takes_on_no_reference_in_it(make: Make) -> None:
    a, b = make(None, Limits(calls_max=2))
    value = a.create_local(RRef.unbound(), 1)
    futures = [a.call("B", far.echo, [value], {}, None) for _ in range(4)]
    creation = a.remote("B", far.echo, [value], {}, None)
    a.flush(LATER)
    read(b)
    read(a)
    for future in futures[2:]:
        with pytest.raises(LimitReached, match=r"B does as much for one worker as it may: calls_max is 2$"):
            outcome(future)
    exchange(a, b)
    assert [outcome(future).id for future in futures[:2]] == [value.id] * 2
    fetch = a.fetch(creation.reference, None)
    exchange(a, b)
    with pytest.raises(LimitReached, match=r"calls_max is 2$"):
        outcome(fetch)
    del value, futures, future, creation, fetch
    settle(a, b)


def test_R28_fetches_that_are_too_many_end_with_the_limit(make: Make) -> None:
    a, b = make(None, Limits(calls_max=3))
    creation = a.remote("B", far.echo, [1], {}, None)
    futures = [a.fetch(creation.reference, None) for _ in range(5)]
    a.flush(LATER)
    read(b)
    read(a)
    assert [future.done() for future in futures] == [False, False, True, True, True]
    with pytest.raises(LimitReached, match=r"calls_max is 3$"):
        outcome(futures[-1])
    exchange(a, b)
    assert [outcome(future) for future in futures[:2]] == [1, 1]
    del creation, futures
    settle(a, b)


def test_R28_calls_that_are_too_large_together_are_refused(make: Make) -> None:
    a, b = make(None, Limits(received_bytes_max=2**18))
    futures = [a.call("B", far.size, [LARGE], {}, None) for _ in range(3)]
    for _ in range(20):
        a.flush(LATER)
        read(b)
    read(a)
    with pytest.raises(LimitReached, match=r"B keeps as much .*: received_bytes_max is 262144$"):
        outcome(futures[2])
    exchange(a, b)
    assert [outcome(future) for future in futures[:2]] == [2**17] * 2
    assert b.core.here.loads[A] == Load(0, 0)


def test_R34_who_takes_nothing_in_and_goes_on_calling_is_declared_dead_and_told_why(make: Make) -> None:
    a, b = make(None, Limits(calls_max=4, queued_bytes_max=2**16))
    for _ in range(4):
        a.call("B", far.large, [], {}, None)
    for _ in range(3):
        run(b)  # whose results fill the queue, as A reads nothing
    for _ in range(6):
        a.call("B", far.large, [], {}, None)
    a.flush(LATER)
    run(b)
    assert "goes on calling" in b.core.dead[A]
    assert "calls_max is 4" in b.core.dead[A]
    assert not b.connections[A].outbox, "what was queued for the dead is dropped"


# Control messages, and what is queued


def test_control_messages_without_an_answer_are_no_more_than_the_limit(make: Make) -> None:
    a, b = make(Limits(control_max=2))
    held = [a.remote("B", far.echo, [n], {}, None) for n in range(6)]
    exchange(a, b)
    held.clear()
    read(a)
    half = a.core.channel.to(B)
    assert (len(half.unanswered), len(half.queued)) == (2, 4)
    settle(a, b)


def test_R34_a_peer_whose_answers_alone_fill_the_queue_is_declared_dead(make: Make) -> None:
    """Nobody can refuse a control message. Its answer is queued, also for somebody who takes nothing in."""
    _, b = make(None, Limits(queued_bytes_max=2**16))
    connection = b.connections[A]
    connection.outbox.append(bytes(2**17))
    connection._added += 2**17
    rref, fork = RRefId(A, FIRST_LIFE, 1), ForkId(A, FIRST_LIFE, 1)
    for _ in range(10_000):
        if A in b.core.dead:
            break
        b.post(A, Control(FIRST_LIFE, 1, 1, UserDelete(rref, fork)), None)  # type: ignore[arg-type]
        b.post(A, Ack(FIRST_LIFE, 1), None)  # type: ignore[arg-type]
    assert "queued_bytes_max is 65536" in b.core.dead[A]
    assert not connection.outbox


def test_what_is_queued_for_a_dead_peer_and_what_came_of_it_in_part_is_dropped(make: Make) -> None:
    a, b = make()
    for _ in range(40):
        a.call("B", far.size, [LARGE], {}, None)
    a.flush(LATER)
    for _ in range(2):
        b.intake.turn(0.0)
    assert a.connections[B].outbox
    assert b.connections[A]._large is not None
    a.declare_dead(B, "for a test")
    for _ in range(10):
        read(b)
    assert not a.connections[B].outbox
    assert A in b.core.dead
    assert b.connections[A]._large is None


def test_a_core_without_a_shell_has_no_limit() -> None:
    core = Core(A, [A, B])
    reference = core.create_local(Value(1))
    for number in range(1, 100):
        body = ForkRequest(reference.rref, ForkId(B, FIRST_LIFE, number))
        core.receive(B, Control(FIRST_LIFE, number, 1, body))  # type: ignore[arg-type]
    assert core.owner.counts.forks[B] == 99


# In a world of processes


def test_a_greedy_fetcher_and_a_program_without_end_are_told_the_limit_by_name() -> None:
    allowed = ["tests.impl.far.references", "tests.impl.far.greedy"]
    with launch(["A", "B"], allow=allowed, rpc_timeout=20, limits=Limits(calls_max=10, callbacks_max=5)):
        futures = [rpc_async("A", far.held_back, [n]) for n in range(10)]
        with pytest.raises(LimitReached, match="calls_max is 10"):
            rpc_sync("A", far.echo, [1])
        for _ in range(5 - futures[0].callbacks()):
            futures[0].then(lambda future: future.wait())
        with pytest.raises(LimitReached, match="callbacks_max is 5"):
            futures[0].then(lambda future: future.wait())
        current().calls_max = Limits().calls_max
        with pytest.raises(LimitReached, match="A does as much for one worker as it may: calls_max is 10"):
            rpc_sync("A", far.echo, [1])
        rpc_sync("B", greedy.release_on, ["A"])
        assert [future.wait() for future in futures] == list(range(10))


def test_no_more_functions_run_at_once_than_there_may_be_threads_and_the_rest_goes_on() -> None:
    allowed = ["tests.impl.far.references"]
    with launch(["A"], allow=allowed, rpc_timeout=20, limits=Limits(threads_max=4)):
        far.hold_back()
        value = remote("driver", far.held_back, ["come"])
        waiting = [rpc_async("A", far.fetch, [value]) for _ in range(4)]
        eventually(lambda: len(far.parked_fetches()) == 4)
        with pytest.raises(LimitReached, match=r"so many functions run on A: threads_max is 4"):
            rpc_sync("A", far.echo, [1])
        with pytest.raises(LimitReached, match=r"threads_max is 4"):
            remote("A", far.echo, [1]).to_here()
        far.release()
        assert [future.wait() for future in waiting] == ["come"] * 4
        assert rpc_sync("A", far.echo, [1]) == 1
