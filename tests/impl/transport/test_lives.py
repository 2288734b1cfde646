"""The end of a process that this one started is noticed by itself: no stream breaks, and nobody has to suspect it (R36)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from typing import Final

import pytest

from farref.impl import PeerDied, RRef, get_debug_info, launch, rpc_sync
from farref.impl.transport.streams import Transport
from farref.impl.worker.halves import READ_BYTES
from farref.impl.worker.process import current
from farref.impl.worker.worker import Worker
from tests.impl.far import children
from tests.impl.far import references as far
from tests.impl.settling import eventually
from tests.impl.worker.unthreaded import A, B, making, turn

PATIENCE_S: Final = 12.0


@pytest.fixture
def a_and_b() -> Iterator[tuple[Worker, Worker]]:
    with making() as make:
        yield make()


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_R36_R41_a_child_that_ends_is_excluded_although_its_streams_stay_open(transport: Transport) -> None:
    """A program that it started has copies of all of its sockets. Nobody is silent for too long, as that is not looked at."""
    allowed = [far.__name__, children.__name__]
    with launch(["A", "B"], allow=allowed, transport=transport, silence_seconds=0) as world:
        for life in range(2):  # the second is one that was started anew
            rref = RRef(life)
            rpc_sync("A", far.keep, [rref])
            rpc_sync("A", children.leave_streams_open, [PATIENCE_S])
            rank = current().find("A")
            os.kill(world.pid("A"), 9)
            eventually(lambda rank=rank: rank in current().core.dead, PATIENCE_S / 2)  # type: ignore[misc]
            eventually(lambda: [entry.forks for entry in get_debug_info().entries] == [()], PATIENCE_S / 2)
            with pytest.raises(PeerDied, match="worker A died: its process has ended"):
                rpc_sync("A", far.echo)
            del rref
            world.restart("A")


def test_what_a_worker_said_before_its_process_ended_is_taken_in(a_and_b: tuple[Worker, Worker]) -> None:
    a, b = a_and_b
    futures = [a.call("B", far.echo, [bytes(READ_BYTES // 2)], {}, None) for _ in range(3)]
    a.flush()
    while b.connections[A].taken < READ_BYTES:
        turn(b)
    turn(b)
    with subprocess.Popen(["true"]) as process:
        a.intake.started.watch(B, process.pid)
        time.sleep(0.1)
    (descriptor,) = a.intake.started.descriptors()
    a.intake._hear(descriptor)
    assert all(len(future.wait()) == READ_BYTES // 2 for future in futures)
    assert a.core.dead[B] == "worker B died: its process has ended"
    assert a.intake.started.descriptors() == (), "it is told once"


def test_a_process_that_was_never_there_is_left_to_its_streams(a_and_b: tuple[Worker, Worker]) -> None:
    a, _ = a_and_b
    process = subprocess.Popen(["true"])
    process.wait()
    a.intake.started.watch(B, process.pid)
    assert a.intake.started.descriptors() == ()
    assert A not in a.core.dead
