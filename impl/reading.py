"""Bodies of messages, read whole before any fork in them takes effect (R28)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farref.impl.errors import WireError
from farref.impl.ids import ForkData, Reference
from farref.impl.reports import read_error
from farref.impl.rref import RRef
from farref.impl.values import Reader

if TYPE_CHECKING:
    from farref.impl.worker import Worker


class Content:
    """A value that was read, and the handles in it that stand for no fork yet."""

    __slots__ = ("handles", "value")

    def __init__(self, value: Any, handles: dict[int, RRef]) -> None:
        self.value = value
        self.handles = handles

    def check(self, is_call: bool) -> None:
        """Refuse arguments that are no arguments: a list for the places, and a map for the names."""
        match self.value:
            case [list(), dict()] if is_call and all(isinstance(name, str) for name in self.value[1]):
                pass
            case _ if is_call:
                raise WireError("the arguments of a call are a list and a map")

    def bind(self, worker: Worker, references: tuple[Reference, ...]) -> Any:
        """Let the handles stand for what was taken on. A fork that the value does not mention is let go."""
        for index, reference in enumerate(references):
            handle = self.handles.get(index) or RRef.unbound()
            handle.adopt(worker, reference)
        self.handles.clear()
        return self.value


class Reading:
    """Reads bodies for one worker."""

    def __init__(self, allow_pickle: bool) -> None:
        self._allow_pickle = allow_pickle

    def read(
        self, body: bytes, forks: tuple[ForkData, ...], segments: memoryview | None = None, failed: bool = False
    ) -> Content:
        """Read a value, or the error that came in its place; raise `WireError` if it cannot be."""
        if failed:
            read_error(body)
            return Content(body, {})
        handles: dict[int, RRef] = {}

        def adopt(index: int) -> RRef:
            if index >= len(forks):
                raise WireError(f"a value refers to fork {index} of {len(forks)}")
            return handles.setdefault(index, RRef.unbound())

        return Content(Reader(adopt, segments, self._allow_pickle).read(body), handles)
