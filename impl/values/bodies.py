"""Bodies of messages: values and errors as bytes, and back.

A fork is minted for each reference as it is written; if the value cannot be written, none is left (R2, R28). A body is read
whole before any fork in it takes effect: the handles in it stand for nothing until they are bound (R28).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
import numpy as np
from msgspec.msgpack import Ext

from farref.impl.core.ids import ForkData, WorkerId
from farref.impl.core.messages import Call, Carrier, FetchCall, Forks, ForwardCall, RemoteCall
from farref.impl.errors import RefusedValue, RpcError, WireError
from farref.impl.functions import Functions
from farref.impl.rref import RRef
from farref.impl.settings import Settings
from farref.impl.tape.tensors import Tensor
from farref.impl.values.arena import Array, Window
from farref.impl.values.codec import ATOMS, PICKLE, joined, write_atoms, write_simple_arguments
from farref.impl.values.content import Content
from farref.impl.values.named import is_envelope
from farref.impl.values.reports import read_report, write_error
from farref.impl.values.tensors import Passage, TensorReader, TensorWriter, write_small

_encode: Final = msgspec.msgpack.Encoder().encode
FORK_BYTES: Final = 128
OTHER_BYTES: Final = 4096
"""More than the rest of a frame takes: for each fork, and altogether."""


Arguments = list[Any] | tuple[Any, ...] | None
PLACES: Final = (list, tuple, type(None))

Written = tuple[Forks, bytes, list[memoryview], Sequence[int]]
"""What travels of a value: its forks, its body, the segments behind that, and the places of what was lent with it."""


class Home(Protocol):
    """What bodies need of the worker that writes and reads them.

    To write may run user code: so it is done under no lock, and
    each of these takes the lock for itself.
    """

    rank: WorkerId
    names: dict[WorkerId, str]
    settings: Settings
    functions: Functions

    def lend(self, array: Array, target: WorkerId) -> int | None:
        """Copy an array into memory that a worker sees, if there is any room, and say its place."""

    def unlend(self, target: WorkerId, places: Sequence[int]) -> None:
        """Take back rooms of which the worker has not heard."""

    def share(self, handle: RRef, target: WorkerId) -> ForkData:
        """Mint a fork of a handle for a worker."""

    def withdraw(self, forks: Forks) -> None:
        """Take back forks that were not sent."""


class Bodies:
    """Writes and reads bodies for one worker. `windows` are what it sees of its peers' memory."""

    def __init__(self, home: Home, windows: Mapping[WorkerId, Window]) -> None:
        self._home = home
        self._settings = home.settings
        self._windows = dict(windows)
        self._simple_bytes_max = home.settings.frame_bytes_max - OTHER_BYTES
        self.may_run_code: Final = _may_run_code if home.settings.allow_pickle else is_envelope
        """Says of a body whether to read it may run user code."""
        self._plain: dict[WorkerId, TensorReader] = {}
        """For messages without forks and segments: a reader keeps nothing of what it has read."""

    # Writing

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
                tensors = _tensors(args, passage)
                body = None if tensors is None else _encode([tensors, {}])
            if body is not None and len(body) <= self._simple_bytes_max:
                return (), body, [], ()
            return self._write([args, kwargs], target, passage)
        except RpcError as error:
            self.say_what(error, "an argument", function, target)
            raise

    def write(self, value: object, target: WorkerId, passage: Passage | None = None) -> Written:
        """Write a value for a worker. The passage, if the message has one, learns which tensors are its pair."""
        body = write_atoms(value)
        if body is None and passage is not None and type(value) is Tensor:
            tensors = _tensors([value], passage)
            body = None if tensors is None else _encode(tensors[0])
        if body is not None and len(body) <= self._simple_bytes_max:
            return (), body, [], ()
        return self._write(value, target, passage)

    def write_error(self, error: object, function: str) -> bytes:
        """Write an error, with the name of this worker, unless it is written already."""
        if type(error) is bytes:
            return error
        known = error if isinstance(error, BaseException) else RpcError(str(error))
        return write_error(known, self._home.names[self._home.rank], function)

    def say_what(self, error: RpcError, what: str, of: object, on: WorkerId | None = None) -> None:
        """Let an error say which value could not be written, of which function, on which worker: here if none is given."""
        place = self._home.names[self._home.rank if on is None else on]
        error.args = (f"{what} of {of} on {place}: {error}",)

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

        writer = _writer(passage, keep, self._settings.allow_pickle)
        body = writer.write(value)
        if passage is not None:
            passage.tensors = writer.tensors
        reader = self._reader(handles.__getitem__, memoryview(bytearray(joined(writer.segments))))
        reader.resolve = self._home.functions.resolve
        reader.tensors = received = list[Tensor]()
        return reader.read(body), received

    def _write(self, value: object, target: WorkerId, passage: Passage | None) -> Written:
        """Write a value, minting a fork for each reference in it; on failure none is left (R2, R28)."""
        home = self._home
        forks: list[ForkData] = []

        def share(item: object) -> int | None:
            if not isinstance(item, RRef):
                return None
            forks.append(home.share(item, target))
            return len(forks) - 1

        writer = _writer(passage, share, self._settings.allow_pickle, lambda array: home.lend(array, target))
        try:
            body = writer.write(value)
            self._check_size(writer.size(body), len(forks))
        except BaseException:
            self.take_back(target, (tuple(forks), b"", [], writer.lent))
            raise
        if passage is not None:
            passage.tensors = writer.tensors
        return tuple(forks), body, writer.segments, writer.lent

    def take_back(self, target: WorkerId, written: Written) -> None:
        """Leave nothing of what was written, as it will not be sent (R28)."""
        forks, _, _, lent = written
        if lent:
            self._home.unlend(target, lent)
        if forks:
            self._home.withdraw(forks)

    def _check_size(self, size: int, forks: int) -> None:
        limit = self._settings.frame_bytes_max
        if size + FORK_BYTES * forks + OTHER_BYTES > limit:
            raise RefusedValue(f"a value of {size} bytes is larger than the limit of {limit} (frame_bytes_max)")

    # Reading

    def read(self, source: WorkerId, message: Carrier, segments: memoryview | None) -> Any:
        """Read a value, or the error that came in its place; raise `WireError` if it cannot be.

        What came with forks or segments is a `Content`: there are handles to be bound, or bytes to be counted. Any other value
        is itself.
        """
        if message.forks or segments is not None:
            content = Content(len(message.forks), 0 if segments is None else len(segments))
            content.value = self._read(message, self._reader(content.adopt, segments, source))
            return content
        if is_envelope(message.body):
            return self._read(message, self._reader(Content().adopt, segments, source))
        reader = self._plain.get(source)
        if reader is None:
            reader = self._plain[source] = self._reader(Content().adopt, None, source)
        return _read(message, reader)

    def forget(self, peer: WorkerId) -> None:
        """Keep no reader for a peer from which nothing comes any more, nor its memory beyond the last view of it."""
        self._plain.pop(peer, None)
        self._windows.pop(peer, None)

    def _read(self, message: Carrier, reader: TensorReader) -> Any:
        """Read a value with a reader of its own, which may look up names if the value is an envelope."""
        if is_envelope(message.body):
            reader.resolve = self._home.functions.resolve
        return _read(message, reader)

    def read_forward(self, source: WorkerId, forward: ForwardCall, segments: memoryview | None) -> Content:
        """Read what came with a context. Its tensors hang on the recv of its pair."""
        message, tensors = forward.message, list[Tensor]()
        if type(message) is FetchCall:
            content = Content()
        else:
            content = Content(len(message.forks), 0 if segments is None else len(segments))
            reader = self._reader(content.adopt, segments, source)
            reader.tensors = tensors
            content.value = self._read(message, reader)
        content.enter(forward, tensors)
        return content

    def _reader(
        self, adopt: Callable[[int], RRef], segments: memoryview | None, source: WorkerId | None = None
    ) -> TensorReader:
        settings, window = self._settings, None if source is None else self._windows.get(source)
        return TensorReader(adopt, segments, settings.allow_pickle, window, copies=settings.copy_arrays)


def is_plain(value: object) -> bool:
    """Say whether to write a value runs no user code, whatever the settings are. Of most values nobody knows before."""
    kind = type(value)
    return kind in ATOMS or kind is Tensor or kind is np.ndarray


def taken(function: str, args: object, kwargs: object) -> tuple[list[Any], dict[str, Any]]:
    """Take the arguments of a call as they are now. A string is refused, as its letters would be the arguments.

    None means that there are none.
    """
    if not isinstance(args, PLACES):
        raise TypeError(f"the args of {function} are a list or a tuple, and not a {type(args).__qualname__}")
    if type(kwargs) is not dict and not isinstance(
        kwargs, Mapping
    ):  # the first question is faster, and mostly the last
        raise TypeError(f"the kwargs of {function} are a mapping, and not a {type(kwargs).__qualname__}")
    return list(args or ()), dict(kwargs)


def _may_run_code(body: bytes) -> bool:
    """Say whether a body is an envelope, or may have a pickle in it. Few have the code of one at all."""
    return is_envelope(body) or PICKLE in body


def _tensors(items: list[object], passage: Passage) -> list[Ext] | None:
    written = write_small(items, passage.recording)
    if written is None:
        return None
    passage.tensors = written[1]
    return written[0]


def _writer(passage: Passage | None, *arguments: Any) -> TensorWriter:
    writer = TensorWriter(*arguments)
    writer.recording = passage is None or passage.recording
    return writer


def _read(message: Carrier, reader: TensorReader) -> Any:
    if type(message) is Call or type(message) is RemoteCall:
        value = reader.read(message.body)
        _check_arguments(value)
        return value
    if message.failed:
        read_report(message.body)
        return message.body
    return reader.read(message.body)


def _check_arguments(value: object) -> None:
    """Refuse arguments that are no arguments: a list for the places, and a map for the names."""
    if type(value) is list and len(value) == 2:
        places, named = value
        if type(places) is list and type(named) is dict and (not named or all(type(name) is str for name in named)):
            return
    raise WireError("the arguments of a call are a list and a map")
