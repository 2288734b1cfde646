"""A whole backward pass in one process: in at one root, out at the leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from farref.impl.tape.graph import Accumulate, Array, Edge, Root
from farref.impl.tape.walk import Walk

if TYPE_CHECKING:
    from farref.impl.tape.tensors import Tensor


def root_of(tensors: Sequence[Tensor]) -> Root:
    """Make the root where the gradients of some tensors come in."""
    edges: list[Edge] = []
    for one in tensors:
        edge = one.gradient_edge
        if edge is None:
            raise RuntimeError(f"element {len(edges)} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
    return Root(edges)


def gradients(
    tensors: Sequence[Tensor], grad_tensors: Sequence[Tensor | None] | None = None, retain_graph: bool = False
) -> dict[Tensor, Array]:
    """Walk back from some tensors; return the gradient of each leaf that has one, and touch no `.grad`."""
    if not isinstance(tensors, Iterable):
        raise TypeError(
            f"this pass begins with a list of tensors, and not a {type(tensors).__qualname__}; "
            "the one that takes a context first is farref.impl.autograd.backward"
        )
    root = root_of(tensors)
    walk = Walk([root], retain_graph)
    given = grad_tensors or [None] * len(tensors)
    walk.arrive(root, [_seed(tensor, gradient) for tensor, gradient in zip(tensors, given, strict=True)])
    found: dict[Tensor, Array] = {}
    for delivery in walk.run():
        if not isinstance(delivery.node, Accumulate) or delivery.gradients[0] is None:
            raise RuntimeError("the graph leads to another process: this pass is for one process only")
        found[delivery.node.tensor] = delivery.gradients[0]
    return found


def _seed(tensor: Tensor, gradient: Tensor | None) -> Array:
    if gradient is not None:
        return gradient.data
    if tensor.data.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones_like(tensor.data)
