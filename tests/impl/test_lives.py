"""One process, one life after another: what was kept from an earlier life is refused (R2)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


AGAIN = """
import sys, tempfile
from pathlib import Path
sys.path.insert(0, {root!r})
from farref.impl import ReferenceRefused, NotRunning, Settings, init_rpc, remote, rpc_sync, shutdown
from tests.impl import far
rank, kept = int(sys.argv[1]), None
for life in range(3):
    directory = Path({directory!r}) / str(life)
    init_rpc("abc"[rank], rank, 3, directory=directory, settings=Settings(allowed_modules=("tests.impl.far",)))
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
