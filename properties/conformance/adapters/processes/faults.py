"""What a network may do to messages (R3), done to a worker of `processes` as they leave it.

A stream loses nothing, so faults happen above it: the worker's `post` is replaced. A user call that is lost is reported to
its sender, as the transport would (R3); a control message is just not there. A fault is for the next messages of its kind.

A stream can be broken, and a worker that was killed comes again.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import msgspec

from farref.impl import RpcError, WorkerInfo, function, rpc_sync
from farref.impl.api import current
from farref.impl.core.messages import Ack, Call, Control, ForwardCall, RemoteCall

Post = Callable[..., None]
PAUSE_S: Final = 0.02
AGAIN_S: Final = 20.0


class Faults:
    """The faults of one worker, for one life."""

    def __init__(self) -> None:
        self._worker = current()
        self._post: Post = self._worker.post
        self._chosen: dict[str, tuple[int, Callable[[Any, Any, Any], None]]] = {}
        self._spoiling = threading.local()
        self._worker.post = self._send  # type: ignore[method-assign]

    def choose(self, kind: str, details: Mapping[str, Any]) -> None:
        """Have the next messages of a kind meet with a fault."""
        message, seconds = details["message"], float(details.get("seconds", 0))
        fault = {
            "lose": self._lose,
            "delay": lambda *sent: self._later(seconds, sent),
            "duplicate": lambda *sent: self._twice(seconds, sent),
        }[kind]
        with self._worker.lock:
            self._chosen[message] = int(details.get("times", 1)), fault

    @contextmanager
    def spoiling(self) -> Iterator[None]:
        """Let the calls that this thread makes be such that nobody can read their arguments."""
        self._spoiling.on = True
        try:
            yield
        finally:
            self._spoiling.on = False

    def _send(self, target: Any, message: Any, segments: Any) -> None:
        if getattr(self._spoiling, "on", False) and isinstance(message, Call | RemoteCall):
            message = msgspec.structs.replace(message, body=b"\xc1")
        left, fault = self._chosen.get(_kind(message), (0, self._post))
        if left:
            self._chosen[_kind(message)] = left - 1, fault
            fault(target, message, segments)
        else:
            self._post(target, message, segments)

    def _lose(self, target: Any, message: Any, _segments: Any) -> None:
        if not isinstance(message, Control | Ack):
            self._worker.perform(self._worker.core.carrier_failed(target, message, "the network lost it"))

    def _twice(self, seconds: float, sent: tuple[Any, ...]) -> None:
        self._post(*sent)
        self._later(seconds, sent)

    def _later(self, seconds: float, sent: tuple[Any, ...]) -> None:
        def send() -> None:
            with self._worker.lock:
                self._post(*sent)
            self._worker.flush()

        timer = threading.Timer(seconds, send)
        timer.daemon = True
        timer.start()


def _kind(message: Any) -> str:
    """Say what a message is, by the word that the spec has for it; one that carries another is what it carries."""
    match message:
        case Control(body=inner):
            return type(inner).__name__
        case ForwardCall(message=inner):
            return type(inner).__name__
        case _:
            return type(message).__name__


def cut(to: str) -> None:
    """Break the stream to another worker; both live (R36)."""
    worker = current()
    stream = worker.connections[worker.find(to)].stream
    with suppress(OSError), socket.socket(fileno=os.dup(stream.fileno())) as other:
        other.shutdown(socket.SHUT_RDWR)


def join_again(join: Callable[[], WorkerInfo]) -> None:
    """Join in the place of a worker that was killed, as soon as a view says so; then everybody knows this one by name (R44)."""
    deadline, me = time.monotonic() + AGAIN_S, None
    while me is None:
        try:
            me = join()
        except RpcError:  # the other one is still a member
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_S)
    others = [name for rank, name in current().names.items() if rank not in current().core.dead and rank != me.id]
    for other in others:
        while rpc_sync(other, rank_of, [me.name]) != me.id:
            time.sleep(PAUSE_S)


@function
def rank_of(name: str) -> int:
    """Say who has a name, as this worker knows it."""
    return int(current().find(name))
