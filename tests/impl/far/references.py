"""Functions that the tests call on other workers."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np

from farref.impl import (
    Future,
    RpcTimeout,
    RRef,
    WorkerInfo,
    get_debug_info,
    get_worker_info,
    remote,
    rpc_async,
    rpc_sync,
)
from farref.impl.api import current
from farref.impl.transport.frames import HEADER

kept: dict[str, Any] = {}
released = threading.Event()


def echo(value: Any = None) -> Any:
    return value


def add(a: Any, b: Any) -> Any:
    return a + b


def size(data: bytes) -> int:
    return len(data)


def pid() -> int:
    return os.getpid()


def end_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def name() -> str:
    return get_worker_info().name


def large() -> bytes:
    """Not an array, which would travel through shared memory and fill no stream."""
    return bytes(2**20)


def ask_often(to: str, count: int) -> int:
    """Call for something large many times at once, and say how much came."""
    futures = [rpc_async(to, large) for _ in range(count)]
    kept["asked"] = True
    return sum(len(future.wait()) for future in futures)


def has_asked() -> bool:
    return "asked" in kept


def pressure(to: str) -> tuple[int, int]:
    """How many bytes wait for a peer here, and how many of its calls have not begun for that reason."""
    worker = current()
    rank = worker.find(to)
    return sum(map(len, list(worker.connections[rank].outbox))), worker.lines.kept(rank)


def slow(seconds: float, value: Any = None) -> Any:
    time.sleep(seconds)
    return value


def held_back(value: Any = None) -> Any:
    """Return a value once `release` was called on this worker."""
    assert released.wait(20)
    return value


def hold_back() -> None:
    """Let `held_back` wait again, in a process in which another test has released it."""
    released.clear()


def release() -> None:
    released.set()


def fail(message: str = "no") -> None:
    raise ValueError(message)


class CustomError(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


def fail_custom() -> None:
    raise CustomError(1, 2)


def fail_os() -> None:
    os.listdir("/no/such/place")


def fetch(rref: RRef) -> Any:
    return rref.to_here()


def local(rref: RRef) -> Any:
    return rref.local_value()


def confirmed(rref: RRef) -> bool:
    return rref.confirmed_by_owner()


def keep(rref: RRef) -> None:
    kept["rref"] = rref


def drop() -> None:
    """Forget what a test left here."""
    kept.clear()
    released.clear()
    gc.collect()


def give_back() -> Any:
    return kept["rref"]


def make(value: Any) -> RRef:
    return RRef(value)


def create(owner: str, value: Any) -> RRef:
    return remote(owner, echo, [value])


def pass_on(rref: RRef, to: str) -> Any:
    return rpc_sync(to, fetch, [rref])


def pass_to_self(rref: RRef) -> Any:
    return rpc_sync(name(), local, [rref])


def note(path: str, rref: RRef, seconds: float) -> None:
    """Write a value into a file, some time later."""
    time.sleep(seconds)
    Path(path).write_text(rref.to_here())


def nested(path: list[str], depth: int) -> int:
    if depth == 0:
        return 0
    return 1 + int(rpc_sync(path[depth % len(path)], nested, [path, depth - 1]))


def later(to: str, value: Any) -> Future:
    return rpc_async(to, echo, [value]).then(lambda future: future.wait() + 1)


def unserialisable() -> Any:
    return threading.Lock()


def tables() -> tuple[int, int, int, int]:
    """How many entries, forks, users and unanswered messages this worker has."""
    info = get_debug_info()
    return len(info.entries), sum(len(e.forks) for e in info.entries), len(info.users), len(info.unanswered)


def all_tables() -> bytes:
    """Every table of this worker, written down."""
    gc.collect()
    return msgspec.msgpack.encode(get_debug_info())


def phases() -> list[str]:
    """How far each entry of this worker has come."""
    return [entry.phase for entry in get_debug_info().entries]


def parked_fetches() -> list[str]:
    """Whose fetches wait for a value on this worker."""
    return [current().names[fetch.source] for entry in get_debug_info().entries for fetch in entry.fetches]


def parked_calls() -> list[list[str]]:
    """Which calls wait on this worker for the confirmation of their arguments: whose, and of what."""
    return [[current().names[view.source], view.function] for view in get_debug_info().parked_calls]


def unanswered() -> list[list[str]]:
    """Which control messages of this worker wait for an answer: whose, and of what kind."""
    return [[current().names[view.peer], view.message] for view in get_debug_info().unanswered]


def dead_workers() -> list[int]:
    return list(get_debug_info().dead)


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def increase(self, by: int = 1) -> int:
        self.count += by
        return self.count

    def where(self) -> str:
        return name()


def counter() -> Counter:
    return Counter()


def info() -> WorkerInfo:
    return get_worker_info()


def wander(seed: int, steps: int, names: list[str], given: list[RRef]) -> list[RRef]:
    """Do something random with references, here and elsewhere, and return some of them."""
    random = Random(seed)
    held = list(given)
    futures: list[Future] = []
    for step in range(steps):
        to = random.choice(names)
        move = random.randrange(12)
        if move == 0:
            held.append(remote(to, echo, [held[-1:]]))
        elif move == 1:
            held.append(remote(to, slow, [0.002, seed]))
        elif move == 2:
            held.append(RRef(seed))
        elif move == 3 and held:
            futures.append(rpc_async(to, fetch, [random.choice(held)]))
        elif move == 4 and held:
            held.pop(random.randrange(len(held)))
        elif move == 5 and held:
            random.choice(held).to_here()
        elif move == 6 and steps > 2:
            arguments = [seed * 31 + step, steps // 3, names, random.sample(held, min(2, len(held)))]
            futures.append(rpc_async(to, wander, arguments))
        elif move == 7 and futures:
            with suppress(ValueError, RpcTimeout):
                futures.pop(0).wait()
        else:
            futures += trouble(random, to, move)
    for future in futures:
        with suppress(ValueError, RpcTimeout):
            future.wait()
    return held[:2]


def trouble(random: Random, to: str, move: int) -> list[Future]:
    """Fail, time out, call a method, send much."""
    if move == 8:
        return [rpc_async(to, fail)]
    if move == 9:
        return [rpc_async(to, slow, [0.05], timeout=0.01)]
    if move == 10:
        return [remote(to, counter).rpc_async().increase()]
    if move == 11:
        return [rpc_async(to, echo, [np.zeros(random.choice([10, 1000, 100_000]))])]
    return []


def collect() -> int:
    """Free what only the cycle collector frees: an error that was raised from a future keeps its frames for so long."""
    return gc.collect()


def touch(path: str) -> None:
    Path(path).touch()


def send_noise(to: str) -> None:
    """Send bytes that are no message to a worker, on the stream it trusts."""
    connection = current().connections[get_worker_info(to).id]
    connection.queue([HEADER.pack(4, 4) + b"\xc1\xc1\xc1\xc1"])
    connection.flush()
