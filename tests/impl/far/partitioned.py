"""Rank 0 of a world on two machines, which cuts the link between them: `partitioned.py STORY ADDRESS LINK`.

A is on this machine, and B on the other. What does not hold is an `AssertionError`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from farref.impl import PeerDied, RRef, get_debug_info, init_rpc, remote, rpc_async, rpc_sync, shutdown
from tests.impl.far import cuts, visitor
from tests.impl.far import references as far
from tests.impl.settling import eventually, is_settled

CALLS = 40


@contextmanager
def cut(link: str) -> Iterator[None]:
    """Let nothing pass between the machines for a while."""
    subprocess.run(["ip", "link", "set", link, "down"], check=True)
    try:
        yield
    finally:
        subprocess.run(["ip", "link", "set", link, "up"], check=True)


def shared() -> RRef:
    """Have B hold a reference to something here."""
    rref = RRef("value")
    rpc_sync("B", far.keep, [rref])
    eventually(lambda: [len(entry.forks) for entry in get_debug_info().entries] == [1])
    return rref


def healed(link: str) -> None:
    """Nothing is lost, and nobody excluded, if the link is back before silence has lasted too long."""
    at_b, rref = remote("B", cuts.once, [-1, 7]), shared()
    with cut(link):
        calls = [rpc_async("B", cuts.once, [number, number]) for number in range(CALLS)]
        relayed = rpc_async("A", cuts.relayed, [CALLS, "B", "through A"])
        time.sleep(2)
    assert [call.wait() for call in calls] == list(range(CALLS))
    assert relayed.wait() == "through A"
    assert rpc_sync("B", cuts.ran) == [(number, 1) for number in range(-1, CALLS + 1)], "each once"
    assert at_b.to_here() == 7
    assert rpc_sync("B", far.give_back).local_value() == "value"
    assert get_debug_info().dead == ()
    del at_b, rref
    rpc_sync("B", far.drop)
    eventually(lambda: is_settled(["A", "B"]))


def not_healed(link: str) -> None:
    """B is excluded and what it held is reclaimed; when the link is back it may come again."""
    rref = shared()
    at_b = remote("B", far.echo, [7])
    rpc_sync("A", far.keep, [at_b])
    with cut(link):
        with pytest.raises(PeerDied, match="it has said nothing for"):
            rpc_sync("B", far.echo)
        eventually(lambda: [entry.forks for entry in get_debug_info().entries] == [()])
        assert rpc_sync("A", far.add, [1, 1]) == 2, "those on this side go on"
        assert rpc_sync("A", far.dead_workers) == [2]
    print("cut", flush=True)  # whoever started B starts it anew
    eventually(lambda: has_come_back("B"), 60)
    rpc_sync("B", far.keep, [rref])
    assert rpc_sync("B", far.give_back).local_value() == "value"
    del rref, at_b
    for name in "AB":
        rpc_sync(name, far.drop)
    eventually(lambda: is_settled(["A", "B"]))


def has_come_back(name: str) -> bool:
    try:
        return bool(rpc_sync(name, far.name) == name)
    except PeerDied:
        return False


def main() -> None:
    """Be rank 0 while the story is told."""
    story, place, link = sys.argv[1:]
    init_rpc("host", rank=0, world_size=3, init_method=f"tcp://{place}", settings=visitor.settings())
    for name in "AB":
        assert rpc_sync(name, far.name) == name, "it has met everybody"
    {"healed": healed, "not healed": not_healed}[story](link)
    shutdown()


if __name__ == "__main__":
    main()
