"""Ordinary endings of ordinary programs: what workers print arrives, and what they start can be ended."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from farref.impl import NotRunning, RpcError, RpcTimeout, launch, remote, rpc_sync, shutdown
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.transport.doorway import Doorway, Guest
from farref.impl.transport.handshake import Peer
from tests.impl.far import references as far
from tests.impl.far import starting as far_starting

ROOT = Path(__file__).parents[2]
FAR = [far.__name__, far_starting.__name__]

PRINTS = """
from farref.impl import launch, rpc_sync
from tests.impl.far import starting as far
if __name__ == "__main__":
    with launch(["A"], allow=[far.__name__], rpc_timeout=20):
        rpc_sync("A", far.say, ["from afar"])
"""


def test_what_a_worker_prints_arrives_where_its_output_is_no_terminal() -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", PRINTS]
    done = subprocess.run(command, cwd=ROOT, env=buffered, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "from afar\n", "")


def test_a_program_that_a_worker_starts_can_be_ended() -> None:
    with launch(["A"], allow=FAR, rpc_timeout=20):
        assert rpc_sync("A", far_starting.signals_of_a_program) == ["default", "default"]


def test_one_thread_leaves_and_another_is_told_so() -> None:
    outcomes: list[str] = []

    def leave() -> None:
        try:
            shutdown()
            outcomes.append("left")
        except NotRunning:
            outcomes.append("not running")

    with launch(["A"], allow=FAR, rpc_timeout=20):
        threads = [threading.Thread(target=leave) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(outcomes) == ["left", *["not running"] * 3]


@pytest.mark.parametrize("elements", [10, 10_000])
@pytest.mark.parametrize("dtype", [">f8", ">i4", ">c16"])
def test_an_array_of_the_other_order_of_bytes_travels(dtype: str, elements: int) -> None:
    with launch(["A"], allow=FAR, rpc_timeout=20):
        array = np.arange(elements).astype(dtype)
        np.testing.assert_array_equal(rpc_sync("A", far.echo, [array]), array)


def test_settings_of_a_meeting_are_refused_or_kept() -> None:
    with pytest.raises(RpcError, match="shared_bytes_max"), launch(["A"], shared_bytes_max=-1):
        pass
    with pytest.raises(RpcTimeout, match="did not come together"), launch(["A"], init_timeout=1e-6):
        pass
    with launch(["A"], allow=FAR, shared_bytes_max=0, init_timeout=60.0):
        assert rpc_sync("A", far.echo, [np.zeros(100_000)]).sum() == 0


class Exhausted(socket.socket):
    """A listener on a machine that has no descriptor free, three times."""

    left = 3

    def accept(self) -> tuple[socket.socket, object]:
        if self.left:
            self.left -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_a_meeting_goes_on_when_descriptors_are_used_up_for_a_while(tmp_path: Path) -> None:
    def introduce(guest: socket.socket) -> Guest:
        return Guest(Peer(WorkerId(1), Incarnation(1), b""), guest)

    with Exhausted(socket.AF_UNIX, socket.SOCK_STREAM) as listener, socket.socket(socket.AF_UNIX) as guest:
        listener.bind(str(tmp_path / "0"))
        listener.listen()
        guest.connect(str(tmp_path / "0"))
        door = Doorway(listener, introduce)
        admitted = None
        while admitted is None:
            admitted = door.admit()
        admitted.stream.close()
        door.close()


def test_a_log_on_a_full_disk_is_incomplete_and_everything_else_works(tmp_path: Path) -> None:
    (tmp_path / "driver.jsonl").symlink_to("/dev/full")

    def work() -> None:
        with launch(["A"], allow=FAR, rpc_timeout=20, log=str(tmp_path)):
            for number in range(300):
                assert remote("A", far.echo, [number]).to_here() == number

    with pytest.warns(UserWarning, match=r"driver\.jsonl is incomplete: .*No space left"):
        work()
    assert (tmp_path / "A.jsonl").read_text().splitlines()
