"""What a network may do to messages (R3), done on real processes: losses, copies, delays, bodies nobody can read.

A stream loses nothing, and a damaged one ends. So faults happen above it, as a message leaves its worker: `inject` replaces
the worker's `post`, and `heal` puts it back. Messages are chosen by kind; a control message is of the kind that it carries.
Each fault counts how often it happened, and `heal` says so: a test whose fault never happened has shown nothing.

Called on another worker with `rpc_sync`, a fault is that worker's.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from farref.impl import rpc_sync
from farref.impl.api import current
from farref.impl.core import channel
from farref.impl.core.messages import Control
from tests.impl.far import references

Post = Callable[[Any, Any, Any], None]
Fault = Callable[[Post, Any, Any, Any], None]

chosen: dict[str, Fault] = {}
left: Counter[str] = Counter()
happened: Counter[str] = Counter()
late: list[float] = []
"""One for each message that was sent late: by how much."""


def kind_of(message: Any) -> str:
    """What a message is; a numbered one is what it carries."""
    return type(message.body if isinstance(message, Control) else message).__name__


def lose(kind: str, count: int = 1) -> None:
    """Lose messages of a kind."""
    _inject(kind, count, lambda *_: None)


def delay(kind: str, seconds: float, count: int = 1) -> None:
    """Hold messages of a kind back, so that later ones overtake them."""
    _inject(kind, count, lambda post, *message: _later(seconds, post, message))


def repeat(kind: str, seconds: float, count: int = 1) -> None:
    """Send messages of a kind, and a copy of each some time later."""

    def twice(post: Post, *message: Any) -> None:
        post(*message)
        _later(seconds, post, message)

    _inject(kind, count, twice)


def spoil(kind: str, count: int = 1, body: bytes = b"\xc1") -> None:
    """Send messages of a kind with another body, by default one that cannot be read."""

    def spoiled(post: Post, target: Any, message: Any, segments: Any) -> None:
        post(target, msgspec.structs.replace(message, body=body), segments)

    _inject(kind, count, spoiled)


def heal() -> dict[str, int]:
    """End all faults, and say how often each kind of message met one."""
    current().__dict__.pop("post", None)
    chosen.clear()
    late.clear()
    counts = dict(happened)
    happened.clear()
    return counts


def copies_sent() -> int:
    """Say how many messages have been sent late, copies included."""
    return len(late)


def hurry() -> None:
    """Send control messages again soon, so that many attempts fit into a test."""
    channel.FIRST_INTERVAL_S = 0.02  # type: ignore[misc]
    channel.LONGEST_INTERVAL_S = 0.02  # type: ignore[misc]


def _inject(kind: str, count: int, fault: Fault) -> None:
    worker = current()
    chosen[kind], left[kind] = fault, count
    if "post" not in worker.__dict__:
        plain = worker.post
        worker.post = lambda *message: _post(plain, *message)  # type: ignore[method-assign]


def _post(plain: Post, target: Any, message: Any, segments: Any) -> None:
    kind = kind_of(message)
    if kind in chosen and left[kind]:
        left[kind] -= 1
        happened[kind] += 1
        chosen[kind](plain, target, message, segments)
    else:
        plain(target, message, segments)


def _later(seconds: float, post: Post, message: Any) -> None:
    worker = current()

    def send() -> None:
        with worker.lock:
            post(*message)
        worker.flush()
        late.append(seconds)

    timer = threading.Timer(seconds, send)
    timer.daemon = True
    timer.start()


_start = threading.Thread.start


def start_no_threads() -> None:
    """Let every start of a thread on this worker fail, as where a limit is reached."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threading.Thread.start = refuse  # type: ignore[method-assign,assignment]


def start_threads() -> None:
    threading.Thread.start = _start  # type: ignore[method-assign]


def declare_dead(name: str) -> None:
    """Take a worker for dead that lives, as where another worker says so."""
    worker = current()
    worker.declare_dead(worker.find(name), "somebody said so")


def call_for_ever(name: str) -> Any:
    """Call a worker, and wait as long as it takes."""
    return rpc_sync(name, references.echo, [1], timeout=0)
