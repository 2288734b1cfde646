"""What is recorded: a node for each operation, with edges to where its inputs came from.

The graph is drawn backwards. Going forward, a tensor remembers the *gradient edge* it hangs on: a node, and which of the
node's outputs it is. When an operation is recorded, the gradient edges of its inputs become the edges of its node. So the
edges lead from the loss towards the leaves, the way gradients flow, and nothing leads the other way: a graph lives exactly
as long as somebody holds one of its ends, and needs no collector of cycles.

There are four kinds of nodes.

- An `Operation` names a rule and has the values which that rule saved. It does not hold code of its own: a graph can be
  printed, counted and compared. The saved values are given up after use, unless the walk was asked to keep them.
- `Accumulate` is the end of the line for a leaf. It holds its tensor; the tensor knows its node only weakly, as PyTorch has
  it, so that the two do not keep each other alive.
- `Receive` is the end of the line for tensors that came from another process. They belong to one message, so they are
  outputs of one node, and their gradients go back together.
- A `Root` is where gradients come in: for the loss, and for tensors that were sent to another process and will hear from
  there. It has edges only. PyTorch calls the two GraphRoot and SendRpcBackward; to a walk they are the same thing.

A gradient may be missing: `None`. That is not zero. A leaf for which all gradients are missing gets none at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from farref.impl.tape.rules import Rule

if TYPE_CHECKING:
    from farref.impl.tape.tensors import Tensor

Array = npt.NDArray[Any]
Gradient = Array | None
Output = tuple[tuple[int, ...], np.dtype[Any]]
"""Shape and dtype of what a node computed: its gradient has the same."""

Hook = Callable[[Array], Gradient]
Hooks = dict[int, tuple[int, Hook]]
"""Hooks in the order they were registered: under a key to remove them by, each with the output it is for."""


class Node:
    """A step of the backward pass. `edges` has one entry for each input, `None` for an input that requires no gradient."""

    __slots__ = ("__weakref__", "edges", "hooks", "outputs")

    def __init__(self, edges: Sequence[Edge | None], outputs: tuple[Output, ...]) -> None:
        self.edges = edges
        self.outputs = outputs
        self.hooks: Hooks | None = None


class Edge(Struct, frozen=True, eq=False):
    """Where a tensor's gradient goes: to a node, as the gradient of one of its outputs."""

    node: Target
    slot: int


class Operation(Node):
    """An operation that was carried out: its rule, what the rule saved (`None` once freed), and its fixed parameters."""

    __slots__ = ("parameters", "rule", "saved")

    def __init__(
        self,
        rule: Rule,
        saved: tuple[Any, ...],
        parameters: dict[str, Any],
        edges: Sequence[Edge | None],
        output: Output,
    ) -> None:
        # Without `super`: there is one for each operation that anybody records.
        self.edges, self.outputs, self.hooks = edges, (output,), None
        self.rule = rule
        self.saved: tuple[Any, ...] | None = saved
        self.parameters = parameters

    def __repr__(self) -> str:
        return f"<Operation {self.rule.name}>"


class Accumulate(Node):
    """The end of the line for a leaf."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        super().__init__((), ((tensor.data.shape, tensor.data.dtype),))
        self.tensor = tensor


class Receive(Node):
    """The end of the line for the tensors of one message."""

    __slots__ = ()

    def __init__(self, outputs: tuple[Output, ...]) -> None:
        super().__init__((), outputs)


Target = Operation | Accumulate | Receive
"""What an edge can lead to: anything but a root."""


class Root(Node):
    """Where gradients come in from outside, one for each edge."""

    __slots__ = ()

    def __init__(self, edges: Sequence[Edge]) -> None:
        super().__init__(edges, ())
