"""Objects and functions of the parity tests, called on other workers."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from farref.impl import Future, RRef, get_worker_info, launch, remote, rpc_async, rpc_sync
from tests.impl.far import references


class Thing:
    """Something with state, and with every kind of method."""

    def __init__(self, value: Any, seconds: float = 0.0) -> None:
        time.sleep(seconds)
        self.value = value

    def get(self) -> Any:
        return self.value

    def set(self, value: Any) -> None:
        self.value = value

    def slow(self, seconds: float) -> Any:
        time.sleep(seconds)
        return self.value

    @staticmethod
    def twice(value: Any) -> Any:
        return value * 2

    @classmethod
    def kind(cls) -> str:
        return cls.__name__

    def later(self, to: str, value: Any) -> Future:
        return rpc_async(to, add, [self.value, value])

    @staticmethod
    def static_later(to: str, a: Any, b: Any) -> Future:
        return rpc_async(to, add, [a, b])

    @classmethod
    def class_later(cls, to: str, a: Any, b: Any) -> Future:
        return rpc_async(to, add, [a, b]).then(lambda future: future.wait())


class Broken:
    def __init__(self) -> None:
        raise ValueError("broken")


def hidden() -> object:
    """Make an object of a class that no other worker can find."""

    class Hidden:
        pass

    return Hidden()


def add(a: Any, b: Any) -> Any:
    return a + b


def fetch_and_add(a: RRef, b: RRef) -> Any:
    return a.to_here() + b.to_here()


def local_and_add(a: RRef, b: RRef) -> Any:
    return a.local_value() + b.local_value()


def remote_and_fetch(owner: str, a: Any, b: Any) -> Any:
    return remote(owner, add, [a, b]).to_here()


def pair_of_references(owner: str, a: Any, b: Any) -> tuple[RRef, RRef]:
    return remote(owner, add, [a, a]), remote(owner, add, [b, b])


def forward(path: list[str], rref: RRef) -> Any:
    """Pass a reference along a path of workers, and bring back a reference to what comes back."""
    if not path:
        return rref
    return remote(path[0], forward, [path[1:], rref])


def local_references(values: list[Any]) -> list[RRef]:
    return [RRef(value) for value in values]


def append_to(rref: RRef, value: Any) -> None:
    rref.local_value().append(value)


def call_on(rref: RRef, method: str, *args: Any) -> Any:
    return getattr(rref.local_value(), method)(*args)


def all_confirmed(rrefs: list[RRef]) -> bool:
    return all(rref.confirmed_by_owner() for rref in rrefs)


# Functions that return futures


def made_by_hand(value: Any, seconds: float = 0.05) -> Future:
    """Return a future that some thread of one's own completes later."""
    future = Future()
    threading.Timer(seconds, lambda: future.set_result(value)).start()
    return future


def failing_later() -> Future:
    return rpc_async(get_worker_info().name, add, [1, 2]).then(lambda _: 1 // 0)


def chained(to: str, a: int, b: int, c: int) -> Future:
    return rpc_async(to, add, [a, b]).then(lambda future: future.wait() + c)


def chained_often(to: str, start: int, times: int) -> Future:
    future = rpc_async(to, add, [start, 0])
    for _ in range(times):
        future = future.then(lambda done: done.wait() + 1)
    return future


def nested_later(to: str, a: int, b: int) -> Future:
    return rpc_async(to, chained, [to, a, b, 0])


def fan_out(to: str, count: int) -> Future:
    """Return a future that is complete when many others are."""
    whole, lock = Future(), threading.Lock()
    parts: list[int] = []

    def collect(part: Future) -> None:
        with lock:
            parts.append(part.wait())
            if len(parts) == count:
                whole.set_result(sum(parts))

    for number in range(count):
        rpc_async(to, add, [number, 1]).then(collect)
    return whole


# A parameter server: trainers push gradients through a proxy, and get the averaged parameters when all have come


class ParameterServer:
    def __init__(self, trainers: int) -> None:
        self.parameters = np.zeros(3)
        self._trainers = trainers
        self._gradients: list[np.ndarray] = []
        self._updated = Future()
        self._lock = threading.Lock()

    def get(self) -> np.ndarray:
        return self.parameters

    def push(self, gradient: np.ndarray) -> Future:
        with self._lock:
            self._gradients.append(gradient)
            updated = self._updated
            if len(self._gradients) == self._trainers:
                self.parameters = self.parameters - sum(self._gradients) / self._trainers
                self._gradients, self._updated = [], Future()
                updated.set_result(self.parameters)
            return updated


def train(server: RRef, steps: int, scale: float) -> np.ndarray:
    parameters = server.rpc_sync().get()
    for _ in range(steps):
        parameters = server.rpc_sync().push(np.full(3, scale))
    return np.asarray(parameters)


def spread(owner: str, names: list[str]) -> list[Any]:
    """Be the driver of work on several workers, in a function on one."""
    x = remote(owner, add, [1, 1])
    return [rpc_sync(name, fetch_and_add, [x, x]) for name in names]


def launch_again() -> None:
    """Begin a world within this one, which is refused."""
    with launch(1):
        pass


class Finalized:
    """Its end is user code: it calls another worker, and waits."""

    ends: ClassVar[list[str]] = []

    def __del__(self) -> None:
        try:
            self.ends.append(rpc_sync("driver", references.echo, ["answered"], timeout=5))
        except Exception as error:
            self.ends.append(type(error).__name__)


def ends() -> list[str]:
    return Finalized.ends


def _ask_somebody() -> str:
    """Call the other worker and wait, as user code may wherever it runs."""
    other = "driver" if get_worker_info().name == "A" else "A"
    return str(rpc_sync(other, references.echo, ["answered"], timeout=5))


class Talking:
    """It is pickled and unpickled by user code, which calls and waits each time."""

    def __init__(self, heard: list[str]) -> None:
        self.heard = heard

    def __reduce__(self) -> Any:
        return talking, ([*self.heard, f"written: {_ask_somebody()}"],)


def talking(heard: list[str]) -> Talking:
    return Talking([*heard, f"read: {_ask_somebody()}"])


def heard_by(one: Talking) -> list[str]:
    return one.heard


def same(one: Talking) -> Talking:
    return one


class TalkingError(Exception):
    """It cannot say what it is without a call."""

    def __str__(self) -> str:
        return _ask_somebody()


def fail_talking() -> None:
    raise TalkingError


def path_of(text: str) -> Path:
    """Make a value whose methods reach beyond it."""
    return Path(text)


def write_to(array: RRef) -> None:
    """Have the owner of an array write it to a file."""
    array.rpc_sync().tofile("written")
