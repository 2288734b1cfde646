"""One process, one life after another: what was kept from an earlier life is refused (R2)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from farref.impl import launch
from farref.impl.api import current

ROOT = Path(__file__).parents[2]


AGAIN = """
import sys, tempfile
from pathlib import Path

from farref.impl import launch
from farref.impl.api import current
sys.path.insert(0, {root!r})
from farref.impl import ReferenceRefused, NotRunning, Settings, init_rpc, remote, rpc_sync, shutdown
from tests.impl.far import references as far
rank, kept = int(sys.argv[1]), None
for life in range(3):
    directory = Path({directory!r}) / str(life)
    init_rpc("abc"[rank], rank, 3, directory=directory, settings=Settings(allowed_modules=("tests.impl.far.references",)))
    if rank == 0:
        x = remote("b", far.echo, [life])
        for use in (lambda: kept.to_here(), lambda: rpc_sync("b", far.fetch, [kept])) if kept else ():
            try:
                print(use())
            except (ReferenceRefused, NotRunning) as error:
                print(type(error).__name__)
        print(rpc_sync("c", far.pass_on, [x, "b"]), flush=True)
        kept = x
    assert shutdown().is_empty()
"""


def test_R2_N8_references_work_after_shutting_down_and_beginning_again(tmp_path: Path) -> None:
    """Three processes are a world, shut down, and are a world again, and again. Users share with users each time.
    What was kept from an earlier life is refused, and every shutdown leaves empty tables."""
    for life in range(3):
        (tmp_path / str(life)).mkdir(mode=0o700)
    script = AGAIN.format(root=str(ROOT), directory=str(tmp_path))
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(rank)], stdout=subprocess.PIPE, text=True)
        for rank in range(3)
    ]
    outputs = [worker.communicate(timeout=60)[0].split() for worker in workers]
    refused = ["NotRunning", "ReferenceRefused"]
    assert outputs == [["0", *refused, "1", *refused, "2"], [], []]
    assert [worker.returncode for worker in workers] == [0, 0, 0]


RESTARTED = """
import os, signal, sys, warnings
sys.path.insert(0, {root!r})
from farref.impl import PeerDied, ReferenceRefused, Settings, get_worker_info, init_rpc, remote, rpc_sync, shutdown
from farref.impl.api import current
from tests.impl.far import references as far
warnings.simplefilter("ignore")
rank, life = int(sys.argv[1]), int(sys.argv[2])

def join():
    init_rpc("abc"[rank], rank, 3, directory={directory!r}, settings=Settings(allowed_modules=("tests.impl.far.references",)))

join()
if life == 1:
    if rank == 0:
        kept = remote("c", far.echo, ["old"])
        rpc_sync("b", far.keep, [kept])
        print(kept.to_here(), current().core.incarnation, flush=True)
        try:
            rpc_sync("c", far.end_this_process)
        except PeerDied as error:
            print("c died" if "worker c died" in str(error) else error, flush=True)
    else:
        while not current().core.dead and not current().reached.get(0):
            far.slow(0.01)
    shutdown(timeout=2)
    join()
if rank == 0:
    new = remote("c", far.echo, ["new"])
    try:
        rpc_sync("b", far.fetch, [kept])
    except ReferenceRefused:
        print("refused")
    assert new.id.incarnation > kept.id.incarnation
    print(rpc_sync("b", far.pass_on, [new, "c"]), flush=True)
print("empty" if shutdown().is_empty() else "not empty", flush=True)
"""


def test_R2_R34_a_worker_that_was_killed_comes_back_under_its_name_and_inherits_nothing(tmp_path: Path) -> None:
    """c is killed. The others take their world down, and all meet again in the same directory, c as a new process.
    What a kept from before is refused, although name, rank and number fit; the new world works and ends empty."""
    tmp_path.chmod(0o700)
    script = RESTARTED.format(root=str(ROOT), directory=str(tmp_path))

    def start(rank: int, life: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, str(rank), str(life)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    workers = [start(rank, 1) for rank in range(3)]
    assert workers[2].wait(30) == -9
    workers[2] = start(2, 2)
    outputs = [worker.communicate(timeout=60)[0].split("\n") for worker in workers]
    assert outputs[0][1:] == ["c died", "refused", "new", "empty", ""]
    assert outputs[1:] == [["empty", ""], ["empty", ""]]


def test_R2_workers_that_have_met_know_which_life_the_others_are_in() -> None:
    with launch(1, allow=["tests.impl.far.objects"]):
        (life,) = current().core.here.lives.values()
        assert set(current().core.here.lives) == set(current().connections)
        assert life > 2**53
