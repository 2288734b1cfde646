"""Values and errors as bodies of messages. A fork is minted for each reference as it is written; on failure none is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.msgpack import Ext

from farref.impl.core.ids import ForkData, WorkerId
from farref.impl.errors import ReferenceRefused, RefusedValue, RpcError
from farref.impl.rref import RRef
from farref.impl.tape.tensors import Tensor
from farref.impl.values.codec import joined, write_atoms, write_simple_arguments
from farref.impl.values.reports import write_error
from farref.impl.values.tensors import Passage, TensorReader, TensorWriter, write_small

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

_encode: Final = msgspec.msgpack.Encoder().encode
FORK_BYTES: Final = 128
OTHER_BYTES: Final = 4096
"""More than the rest of a frame takes: for each fork, and altogether."""


Arguments = list[Any] | tuple[Any, ...]

Written = tuple[tuple[ForkData, ...], bytes, list[memoryview]]
"""What travels of a value: its forks, its body, and the segments behind that."""


class Writing:
    """Writes bodies for one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._simple_bytes_max = worker.settings.frame_bytes_max - OTHER_BYTES

    def write_arguments(
        self,
        args: list[Any],
        kwargs: dict[str, Any],
        target: WorkerId,
        passage: Passage | None = None,
        function: str = "a function",
    ) -> Written:
        """Write the arguments of a call. Most are simple, and have a way of their own for speed."""
        try:
            body = None if kwargs else write_simple_arguments(args)
            if body is None and not kwargs and passage is not None:
                tensors = self._tensors(args, passage)
                body = None if tensors is None else _encode([tensors, {}])
            return self._write([args, kwargs], target, passage) if body is None else self._checked(body)
        except RpcError as error:
            self.say_what(error, "an argument", function, target)
            raise

    def write(self, value: object, target: WorkerId, passage: Passage | None = None) -> Written:
        """Write a value for a worker. The passage, if the message has one, learns which tensors are its pair."""
        body = write_atoms(value)
        if body is None and passage is not None and type(value) is Tensor:
            tensors = self._tensors([value], passage)
            body = None if tensors is None else _encode(tensors[0])
        return self._write(value, target, passage) if body is None else self._checked(body)

    def _tensors(self, items: list[object], passage: Passage) -> list[Ext] | None:
        written = write_small(items, passage.recording)
        if written is None:
            return None
        passage.tensors = written[1]
        return written[0]

    def _checked(self, body: bytes) -> Written:
        if len(body) > self._simple_bytes_max:
            self._check_size(len(body), 0)
        return (), body, []

    def _write(self, value: object, target: WorkerId, passage: Passage | None) -> Written:
        """Write a value, minting a fork for each reference in it; on failure none is left (R2, R28)."""
        worker = self._worker
        forks: list[ForkData] = []

        def share(item: object) -> int | None:
            if not isinstance(item, RRef):
                return None
            if item.worker is not worker:
                raise ReferenceRefused(f"{item!r} is of another world, which this process has left: it is gone")
            forks.append(worker.core.share(item.reference, target))
            return len(forks) - 1

        arena = worker.arena if target != worker.rank and target not in worker.core.dead else None
        lend = None if arena is None else lambda array: arena.lend(array, target)
        writer = _writer(passage, share, worker.settings.allow_pickle, lend)
        try:
            body = writer.write(value)
            self._check_size(writer.size(body), len(forks))
        except BaseException:
            if arena is not None:
                arena.take_back(target, writer.lent)
            worker.perform(worker.core.withdraw(tuple(forks)))
            raise
        if passage is not None:
            passage.tensors = writer.tensors
        return tuple(forks), body, writer.segments

    def say_what(self, error: RpcError, what: str, of: object, on: WorkerId | None = None) -> None:
        """Let an error say which value could not be written, of which function, on which worker: here if none is given."""
        place = self._worker.names[self._worker.rank if on is None else on]
        error.args = (f"{what} of {of} on {place}: {error}",)

    def write_error(self, error: object, function: str) -> bytes:
        """Write an error, with the name of this worker, unless it is written already."""
        if isinstance(error, bytes):
            return error
        known = error if isinstance(error, BaseException) else RpcError(str(error))
        return write_error(known, self._worker.names[self._worker.rank], function)

    def copy(self, value: object, passage: Passage | None = None) -> tuple[Any, list[Tensor]]:
        """Write a value and read it back, as if it had travelled; references in it stay the handles they are.

        The tensors that arrive as the pair's other end are listed beside it.
        """
        handles: list[RRef] = []

        def keep(item: object) -> int | None:
            if not isinstance(item, RRef):
                return None
            handles.append(item)
            return len(handles) - 1

        settings = self._worker.settings
        writer = _writer(passage, keep, settings.allow_pickle)
        body = writer.write(value)
        if passage is not None:
            passage.tensors = writer.tensors
        segments = memoryview(bytearray(joined(writer.segments)))
        reader = TensorReader(handles.__getitem__, segments, settings.allow_pickle, copies=settings.copy_arrays)
        received: list[Tensor] = []
        reader.tensors = received
        return reader.read(body), received

    def _check_size(self, size: int, forks: int) -> None:
        limit = self._worker.settings.frame_bytes_max
        if size + FORK_BYTES * forks + OTHER_BYTES > limit:
            raise RefusedValue(f"a value of {size} bytes is larger than the limit of {limit} (frame_bytes_max)")


def taken(function: str, args: object, kwargs: object) -> tuple[list[Any], dict[str, Any]]:
    """Take the arguments of a call as they are now. A string is refused, as its letters would be the arguments."""
    # The first question of each two is answered faster, and is the last for nearly every call.
    if type(args) is not list and not isinstance(args, list | tuple):
        raise TypeError(f"the args of {function} are a list or a tuple, and not a {type(args).__qualname__}")
    if type(kwargs) is not dict and not isinstance(kwargs, Mapping):
        raise TypeError(f"the kwargs of {function} are a mapping, and not a {type(kwargs).__qualname__}")
    return list(args), dict(kwargs)


def _writer(passage: Passage | None, *arguments: Any) -> TensorWriter:
    writer = TensorWriter(*arguments)
    writer.recording = passage is None or passage.recording
    return writer
