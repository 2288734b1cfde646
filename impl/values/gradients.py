"""Gradients as numbers and as bytes: how a task walks its graph, and what it sends (A13, A22, spec/wire.md).

Written gradients have an array for each tensor of a pair, nil where there is none. They lie in the body whatever their size:
a control message is kept until it is answered, and may be sent again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec.msgpack import Ext

from farref.impl.core.autograd.graph import Delivery
from farref.impl.core.autograd.ids import ForwardId
from farref.impl.errors import WireError
from farref.impl.tape.graph import Accumulate, Array, Gradient, Node, Operation, Root
from farref.impl.tape.tensors import Tensor
from farref.impl.tape.walk import BackwardError, Walk
from farref.impl.values.arrays import read_array, write_array
from farref.impl.values.codec import ARRAY

Gradients = tuple[Gradient, ...]
"""The gradients of one pair."""


class GradientWalk:
    """The numbers of one task. It implements `core.autograd.graph.Walk` with the walk of the tape."""

    def __init__(self, roots: Iterable[Root], recvs: Mapping[Node, ForwardId]) -> None:
        self.staged: dict[Tensor, Array] = {}
        self._walk = Walk(roots, retain_graph=True)
        self._recvs = recvs

    def seed(self, root: Root, seeds: Gradients) -> None:
        """Take in what the pass begins with."""
        self._walk.arrive(root, seeds)

    def arrive(self, root: Root, written: bytes) -> None:
        """Take in written gradients; raise an error if they cannot be read or do not fit."""
        self._walk.arrive(root, read_gradients(written))

    def give_up(self, root: Root) -> None:
        """Take in that nothing will come for a root: nothing for each of its tensors."""
        self._walk.arrive(root, [None] * len(root.edges))

    def waits_for(self, root: Root) -> bool:
        """Say whether nothing has come for a root yet, and it has not been given up."""
        return root in self._walk.waiting

    def run(self) -> Iterator[Delivery]:
        """Go on as far as possible. Keep what reaches a leaf, and hand out what reaches a recv."""
        for delivery in self._walk.run():
            node, gradients = delivery.node, delivery.gradients
            if isinstance(node, Accumulate):
                if gradients[0] is not None:
                    self.staged[node.tensor] = gradients[0]
                continue
            forward = self._recvs.get(node)
            is_nothing = gradients[0] is None and all(one is None for one in gradients)
            if forward is not None:
                yield Delivery(forward, write_gradients(gradients), is_nothing)
            elif not is_nothing:
                raise BackwardError("the graph leads to a tensor that was received in another context")

    def free(self, roots: Iterable[Node]) -> None:
        """Give up what was saved behind some roots."""
        seen: set[Node] = set(roots)
        todo = list(seen)
        for node in todo:  # which grows on the way
            if isinstance(node, Operation) and node.rule.saves_values:
                node.saved = None
            for edge in node.edges:
                if edge is not None and edge.node.edges and edge.node not in seen:
                    seen.add(edge.node)
                    todo.append(edge.node)


def write_gradients(gradients: Gradients) -> bytes:
    """Write the gradients of one pair."""
    return _encode([None if one is None else Ext(ARRAY, write_array(one)) for one in gradients])


def read_gradients(body: bytes) -> Gradients:
    """Read the gradients of one pair, or raise `WireError`."""
    try:
        return tuple(_decode(body))
    except (msgspec.MsgspecError, ArithmeticError, LookupError, TypeError, ValueError, struct.error) as error:
        raise WireError(f"the gradients of a pair cannot be read: {error}") from error


def _read(code: int, data: memoryview) -> Gradient:
    if code != ARRAY:
        raise WireError("the gradients of a pair are arrays and nil")
    return read_array(data)


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Gradient], ext_hook=_read).decode
