"""Tensors and context ids as values on the wire (spec/wire.md, Values): two extensions on top of `values`.

A tensor is its array, and whether it needs a gradient that is recorded. In a message that carries a context, those that do
are its pair, in the order in which they were written (A7). In any other message such a tensor arrives as a leaf.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.msgpack import Ext

from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.errors import WireError
from farref.impl.tape.graph import Edge, Receive, Root
from farref.impl.tape.passes import root_of
from farref.impl.tape.tensors import Tensor
from farref.impl.values.arrays import read_array, write_array
from farref.impl.values.codec import ARRAY, ARRAYS, SEGMENT_BYTES_MIN, Reader, Writer

TENSOR, CONTEXT = 13, 14
_CONTEXT: Final = struct.Struct("<IQQ")
_FORM: Final = struct.Struct("<BB")
"""Whether it needs a gradient that is recorded, and which extension its array is."""


def write_small(items: Sequence[object], recording: bool) -> tuple[list[Ext], list[Tensor]] | None:
    """Write some values if all are tensors without references or segments, and list those whose gradients are recorded.

    This is what most calls in a context carry, so it does without a writer.
    """
    written, paired = [], []
    for item in items:
        if type(item) is not Tensor or item.data.nbytes >= SEGMENT_BYTES_MIN:
            return None
        is_paired = item.requires_grad and recording
        if is_paired:
            paired.append(item)
        written.append(Ext(TENSOR, _FORM.pack(is_paired, ARRAY) + write_array(item.data)))
    return written, paired


class TensorWriter(Writer):
    """Writes one value, and keeps the tensors in it whose gradients are recorded."""

    recording = True
    tensors: tuple[Tensor, ...] = ()

    def _rare(self, value: Any, kind: type) -> object:
        if kind is Tensor:
            is_paired = value.requires_grad and self.recording
            if is_paired:
                self.tensors += (value,)
            array = self._array(value.data)
            return Ext(TENSOR, _FORM.pack(is_paired, array.code) + array.data)
        if kind is ContextId:
            return Ext(CONTEXT, _CONTEXT.pack(value.created_on, value.incarnation, value.number))
        return super()._rare(value, kind)


class TensorReader(Reader):
    """Reads one value, and keeps the tensors in it whose gradients are recorded."""

    tensors: list[Tensor] | None = None
    """Where to keep them. A reader that is used again keeps none."""

    def extension(self, code: int, data: memoryview) -> object:
        """Read what MessagePack has no word for."""
        if code == TENSOR:
            return self._tensor(data)
        if code == CONTEXT:
            rank, incarnation, number = _CONTEXT.unpack(data)
            return ContextId(WorkerId(rank), Incarnation(incarnation), number)
        return super().extension(code, data)

    def _tensor(self, data: memoryview) -> Tensor:
        is_paired, form = _FORM.unpack_from(data)
        if is_paired > 1 or form not in ARRAYS:
            raise WireError("a tensor is a flag and an array")
        array = read_array(data, 2) if form == ARRAY else self._array(data[2:], form)
        tensor = Tensor(array, requires_grad=is_paired == 1)
        if is_paired and self.tensors is not None:
            self.tensors.append(tensor)
        return tensor


@dataclass(slots=True)
class Passage:
    """A call that is about to leave in a context: what it is a call of, and its pair as far as it is known."""

    context: ContextId
    function: str
    recording: bool
    tensors: Sequence[Tensor]

    @property
    def node(self) -> Root | None:
        """Where the gradients of the pair will come in, if there is a pair."""
        return root_of(self.tensors) if self.tensors else None


def attach(tensors: list[Tensor]) -> Receive | None:
    """Hang the tensors of one message on the recv of its pair, from which their gradients go back together."""
    if not tensors:
        return None
    node = Receive(tuple([(tensor.data.shape, tensor.data.dtype) for tensor in tensors]))
    for slot, tensor in enumerate(tensors):
        # They were made as leaves, before it was known that the message could be read to its end.
        tensor._edge = Edge(node, slot)
    return node
