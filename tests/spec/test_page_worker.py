"""A worker of two pages meets one of `farref.impl`: values, references both ways, a refusal, and empty tables in the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DRIVER: Final = """
import subprocess, sys
from farref.impl import RefusedCall, RRef, function, init_rpc, remote, rpc_sync, shutdown

@function
def peek(reference):
    return reference.to_here()

small = subprocess.Popen([sys.executable, "-m", "tests.spec.page_worker", sys.argv[1]])
init_rpc("py", 0, 2, directory=sys.argv[1])
print(rpc_sync("small", "small:echo", args=[[1, -1, 300, "a", 2.5, None, {"k": True}, b"b", (1,)]]))
x = remote("small", "small:double", args=[21])
print(x.to_here(), x.confirmed_by_owner(), rpc_sync("small", "small:read", args=[x]))
rpc_sync("small", "small:keep", args=[x, x])
y = rpc_sync("small", "small:give")
print(y.to_here(), y.confirmed_by_owner())
mine = RRef([7])
print(rpc_sync("small", "small:read", args=[mine]), rpc_sync("small", "small:ask_back", args=[x]))
rpc_sync("small", "small:keep", args=[mine])
try:
    rpc_sync("small", "small:nothing")
except RefusedCall as error:
    print(error)
del x, y, mine
print(shutdown().is_empty(), small.wait(10))
"""


def test_a_small_worker_in_a_world(tmp_path: Path) -> None:
    place = tmp_path / "world"
    place.mkdir(mode=0o700)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(place)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[1, -1, 300, 'a', 2.5, None, {'k': True}, b'b', [1]]",
        "42 True 42",
        "gift True",
        "[7] 42",
        "small:nothing on small was refused: there is no small:nothing here",
        "True 0",
    ]
