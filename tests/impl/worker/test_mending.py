"""A link that is cut is made again: every call runs once and is answered once, no reference is lost, and nobody dies (R36)."""

from __future__ import annotations

import threading
import time
from collections import Counter
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from farref.impl import get_debug_info, launch, rpc_async, rpc_sync
from farref.impl.settings import Tls
from farref.impl.transport.streams import Transport
from tests.impl.far import cuts as far
from tests.impl.far import references
from tests.impl.settling import eventually, is_settled
from tests.impl.transport.test_strangers import files

CUTS: Final = 100
NAMES: Final = ("driver", "A", "B")
FAR: Final = ["tests.impl.far.cuts", "tests.impl.far.references"]


def load(first: int, random: Random, done: threading.Event, made: list[tuple[int, str]], errors: list[Any]) -> None:
    """Call, and share references, until it is enough. Every thread has numbers of its own."""
    number = first
    while not done.is_set():
        number += 1
        to, other = random.sample(NAMES[1:], 2)
        try:
            match random.randrange(5):
                case 0:
                    rpc_sync(to, far.make_for, [number, other, random.choice(NAMES)])
                    made.append((number, "kept"))
                case 1:
                    value = np.full(random.choice([10, 5000, 40_000, 300_000]), float(number))
                    assert float(rpc_sync(to, far.once, [number, value]).sum()) == number * len(value)
                    made.append((number, "ran"))
                case 2:
                    assert rpc_sync(to, far.relayed, [number, other, number]) == number
                    made.append((number, "ran"))
                case _:
                    futures = [rpc_async(to, far.once, [number * 1000 + n, n]) for n in range(20)]
                    assert [future.wait() for future in futures] == list(range(20))
                    made.extend((number * 1000 + n, "ran") for n in range(20))
        except Exception as error:
            errors.append((number, error))
            return


def cut_often(random: Random, done: threading.Event, count: int) -> None:
    for _ in range(count):
        here, there = random.sample(NAMES, 2)
        if here == "driver":
            far.cut(there, random.randrange(10**6))
        else:
            rpc_sync(here, far.cut, [there, random.randrange(10**6)])
        time.sleep(random.choice([0.0, 0.01, 0.05]))
    done.set()


@pytest.mark.parametrize(("transport", "tls"), [("unix", None), ("tcp", None), ("tcp", files("worker"))])
def test_R36_a_hundred_cuts_under_load_lose_nothing(transport: Transport, tls: Tls | None) -> None:
    random, done, made, errors = Random(1), threading.Event(), list[tuple[int, str]](), list[Any]()
    far.RAN.clear()
    with launch(NAMES[1:], allow=FAR, transport=transport, tls=tls, rpc_timeout=60):
        given = [(n * 10**6, Random(n), done, made, errors) for n in range(1, 4)]
        threads = [threading.Thread(target=load, args=one) for one in given]
        for thread in threads:
            thread.start()
        cut_often(random, done, CUTS)
        for thread in threads:
            thread.join(60)
        assert not errors
        assert not any(thread.is_alive() for thread in threads)
        check(made)
        epochs = [far.epochs(), *(rpc_sync(name, far.epochs) for name in NAMES[1:])]
        assert sum(sum(one.values()) for one in epochs) > CUTS / 2, "streams were cut, and made again"


def check(made: list[tuple[int, str]]) -> None:
    """Every call ran once, whatever was kept has its value, nobody is dead, and nothing is left."""
    ran = Counter(dict(far.ran()))
    for name in NAMES[1:]:
        ran.update(dict(map(tuple, rpc_sync(name, far.ran))))
    assert {number: count for number, count in ran.items() if count != 1 and number >= 0} == {}
    assert {number for number in ran if number >= 0} == {number for number, _ in made}
    kept = sorted(far.values() + [value for name in NAMES[1:] for value in rpc_sync(name, far.values)])
    assert kept == sorted(number for number, how in made if how == "kept")
    assert get_debug_info().dead == ()
    assert [rpc_sync(name, references.dead_workers) for name in NAMES[1:]] == [[], []]
    eventually(lambda: is_settled(NAMES[1:]))
