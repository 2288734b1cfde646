"""Ctrl-C at any moment ends a wait, and leaves a world that works."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from farref.impl import Cluster, RRef, launch, remote, rpc_async, rpc_sync
from tests.impl.far import references as far
from tests.impl.mishaps import Interrupts
from tests.impl.settling import settle

STORM = 1_000


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=[far.__name__], rpc_timeout=60) as cluster:
        yield cluster


def press(times: int, seed: int, pause_s: float) -> threading.Thread:
    """Press Ctrl-C often, at random moments, on another thread."""

    def go_on() -> None:
        drawn = random.Random(seed)
        for _ in range(times):
            time.sleep(drawn.random() * pause_s)
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    return thread


def test_a_wait_ends_with_the_interrupt_and_the_answer_still_comes(world: Cluster) -> None:
    assert world
    future = rpc_async("A", far.held_back, ["value"])
    pressing = press(1, 0, 0.1)
    with pytest.raises(KeyboardInterrupt):
        future.wait()
    pressing.join()
    assert not future.done()
    rpc_sync("A", far.release)
    assert future.wait() == "value"


def test_a_handler_that_a_program_sets_meanwhile_is_called(world: Cluster) -> None:
    assert world
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        pressing = press(20, 1, 0.005)
        while pressing.is_alive() or len(heard) < 1:
            assert rpc_sync("A", far.echo, [1]) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert set(heard) == {signal.SIGINT}


@pytest.fixture
def armed() -> Iterator[Interrupts]:
    armed = Interrupts()
    before = signal.signal(signal.SIGINT, armed)
    yield armed
    signal.signal(signal.SIGINT, before)


def test_a_storm_of_interrupts_leaves_a_world_that_works(world: Cluster, armed: Interrupts) -> None:
    drawn, answered, interrupted = random.Random(3), 0, 0
    pressing = press(STORM, 2, 0.004)
    while pressing.is_alive() or answered <= 50:  # on a busy machine almost nothing is answered between two interrupts
        try:
            armed.is_armed = True
            number = drawn.randrange(1000)
            begin = drawn.choice(
                [rpc_sync, lambda *given: remote(*given).to_here(), lambda *given: rpc_async(*given).wait()]
            )
            assert begin("A", far.echo, [number]) == number
            assert rpc_sync("A", far.fetch, [RRef(number)]) == number
            answered += 1
            armed.is_armed = False
        except KeyboardInterrupt:
            interrupted += 1
    assert min(answered, interrupted) > 50
    assert [rpc_sync("A", far.echo, [number]) for number in range(100)] == list(range(100))
    settle(world.names)
