"""Bodies of messages, read whole before any fork in them takes effect (R28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.ids import Reference, WorkerId
from farref.impl.core.messages import Call, Carrier, FetchCall, ForwardCall, RemoteCall
from farref.impl.errors import WireError
from farref.impl.rref import RRef
from farref.impl.settings import Settings
from farref.impl.tape.graph import Receive
from farref.impl.tape.tensors import Tensor
from farref.impl.values.arena import Window
from farref.impl.values.reports import read_error
from farref.impl.values.tensors import TensorReader, attach

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker


class Content:
    """A value that was read, and the handles in it that stand for no fork yet."""

    __slots__ = ("_forks", "context", "handles", "node", "value")

    value: Any

    def __init__(self, forks: int = 0) -> None:
        self._forks = forks
        self.handles: dict[int, RRef] | None = None
        self.context: ContextId | None = None
        self.node: Receive | None = None

    def enter(self, forward: ForwardCall, tensors: list[Tensor]) -> None:
        """Belong to the context that the message carries, and hang the tensors on the recv of its pair (A7)."""
        if len(tensors) != forward.tensors:
            raise WireError(f"a call has a pair of {forward.tensors} tensors, and {len(tensors)} came")
        self.context, self.node = forward.context, attach(tensors)

    def adopt(self, index: int) -> RRef:
        """Make the handle for a fork of the message."""
        if index >= self._forks:
            raise WireError(f"a value refers to fork {index} of {self._forks}")
        if self.handles is None:
            self.handles = {}
        return self.handles.setdefault(index, RRef.unbound())

    def bind(self, worker: Worker, references: tuple[Reference, ...]) -> Any:
        """Let the handles stand for what was taken on. A fork that the value does not mention is let go."""
        if references:
            handles = self.handles or {}
            for index, reference in enumerate(references):
                (handles.get(index) or RRef.unbound()).adopt(worker, reference)
            handles.clear()
        return self.value


class Reading:
    """Reads bodies for one worker."""

    def __init__(self, settings: Settings, windows: Mapping[WorkerId, Window]) -> None:
        self._settings = settings
        self._windows = windows
        self._plain: dict[WorkerId, TensorReader] = {}
        """For messages without forks and segments: a reader keeps nothing of what it has read."""

    def read(self, source: WorkerId, message: Carrier, segments: memoryview | None) -> Any:
        """Read a value, or the error that came in its place; raise `WireError` if it cannot be.

        What came with forks is a `Content`, as there are handles to be bound. Any other value is itself.
        """
        if message.forks:
            content = Content(len(message.forks))
            content.value = self._read(message, self._reader(source, content, segments))
            return content
        if segments is not None:
            return self._read(message, self._reader(source, None, segments))
        return self._read(message, self._plain.get(source) or self._plain.setdefault(source, self._reader(source)))

    def read_forward(self, source: WorkerId, forward: ForwardCall, segments: memoryview | None) -> Content:
        """Read what came with a context. Its tensors hang on the recv of its pair."""
        message, tensors = forward.message, list[Tensor]()
        if type(message) is FetchCall:
            content = Content()
        else:
            content = Content(len(message.forks))
            reader = self._reader(source, content, segments)
            reader.tensors = tensors
            content.value = self._read(message, reader)
        content.enter(forward, tensors)
        return content

    def _read(self, message: Carrier, reader: TensorReader) -> Any:
        if type(message) is Call or type(message) is RemoteCall:
            value = reader.read(message.body)
            _check_arguments(value)
            return value
        if message.failed:
            read_error(message.body)
            return message.body
        return reader.read(message.body)

    def _reader(
        self, source: WorkerId, content: Content | None = None, segments: memoryview | None = None
    ) -> TensorReader:
        settings, adopt = self._settings, (content or Content()).adopt
        window = self._windows.get(source)
        return TensorReader(adopt, segments, settings.allow_pickle, window, copies=settings.copy_arrays)


def _check_arguments(value: object) -> None:
    """Refuse arguments that are no arguments: a list for the places, and a map for the names."""
    if type(value) is list and len(value) == 2:
        places, named = value
        if type(places) is list and type(named) is dict and (not named or all(type(name) is str for name in named)):
            return
    raise WireError("the arguments of a call are a list and a map")
