"""The backward pass: a walk over a graph that can stop anywhere and go on when more has arrived.

A node may run when everything it waits for is there. What that is cannot be known while walking, so the walk begins with a
*survey*: from its roots along all edges, counting for each node the edges that lead to it. Only what the roots reach takes
part; a node outside has no say. Then gradients arrive at the roots, in any order and at any time. Each is passed along the
root's edges, nodes become ready, and running one makes others ready. When nothing is ready but roots still wait, the walk
rests. It is a plain object: whoever holds it decides when to go on, or drops it.

Sums of floating-point numbers depend on the order of addition, so that order must not depend on who was first. The survey
gives each edge a place among the edges of its target, and contributions are added in the order of places. One that comes
too early is kept until those before it are there.

Nodes at the end of the line do nothing here. The walk *delivers* what came to them, and the caller decides: into `.grad`, into
a mapping, into a message to another process. So a pass that fails has changed no gradient anywhere.

Two things are done here for all rules. A rule may return the gradient in the shape of the operation's result: if the input
was broadcast, it is summed back. And a gradient gets the dtype of its tensor. Hence rules know nothing of broadcasting.

Neither the survey nor the walk is recursive: graphs are as deep as programs are long. A walk is for one thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, assert_never

import numpy as np
from msgspec import Struct

from farref.impl.tape.graph import Accumulate, Array, Edge, Gradient, Node, Operation, Output, Receive, Root, Target
from farref.impl.user_code import entering


class BackwardError(RuntimeError):
    """A backward pass could not go on."""


class Delivery(Struct, frozen=True):
    """What came to the end of a line: one gradient for each output of the node. For a leaf it is never missing."""

    node: Accumulate | Receive
    gradients: tuple[Gradient, ...]


class _Visit:
    """What a walk knows of a node: the places of its edges at their targets, and what has come to it so far."""

    __slots__ = ("early", "expected", "places", "taken", "totals")

    def __init__(self, outputs: int) -> None:
        self.places: list[int] = []
        self.expected = self.taken = 0
        self.totals: list[Gradient] = [None] * outputs
        self.early: dict[int, tuple[int, Gradient]] | None = None

    def put(self, place: int, slot: int, gradient: Gradient) -> bool:
        """Take a contribution, or keep it until its turn; say whether it was the last that was missing."""
        if place != self.taken:
            if self.early is None:
                self.early = {}
            self.early[place] = (slot, gradient)
            return False
        while True:
            self.taken += 1
            if gradient is not None:
                total = self.totals[slot]
                self.totals[slot] = gradient if total is None else total + gradient
            if self.early is None or self.taken not in self.early:
                return self.taken == self.expected
            slot, gradient = self.early.pop(self.taken)


class Walk:
    """A backward pass from some roots. `waiting` are the roots whose gradients have not arrived, in the order given."""

    def __init__(self, roots: Iterable[Root], retain_graph: bool = False) -> None:
        self.waiting = dict.fromkeys(roots)
        self._visits = _survey(self.waiting)
        self._ready: deque[Target] = deque()
        self._retain_graph = retain_graph

    @property
    def ready(self) -> tuple[Target, ...]:
        """The nodes that may run now, in the order they will."""
        return tuple(self._ready)

    @property
    def done(self) -> bool:
        """Whether every node that takes part has run."""
        return not self._visits

    def arrive(self, root: Root, gradients: Sequence[Gradient]) -> None:
        """Take the gradients for a root, one for each of its edges, once."""
        if root not in self.waiting:
            raise BackwardError("this root takes no part in the walk, or its gradients are here already")
        if len(gradients) != len(root.edges):
            raise BackwardError(f"{len(gradients)} gradients came for {len(root.edges)} tensors")
        checked = [
            None if gradient is None else _checked(gradient, edge.node.outputs[edge.slot])
            for gradient, edge in zip(gradients, root.edges)  # noqa: B905 (they are of one length)
            if edge is not None
        ]
        del self.waiting[root]
        self._pass_on(root, self._visits.pop(root), checked)

    def step(self) -> Delivery | None:
        """Run the next node that is ready; if it is the end of a line, return what came to it."""
        if not self._ready:
            raise BackwardError("nothing is ready: the walk is done, or waits for gradients")
        node = self._ready.popleft()
        visit = self._visits.pop(node)
        gradients = _hooked(node, visit.totals) if node.hooks else visit.totals
        match node:
            case Operation():
                self._pass_on(node, visit, self._differentiated(node, gradients[0]))
                return None
            case Accumulate() if gradients[0] is None:
                return None
            case Accumulate() | Receive():
                return Delivery(node, tuple([None if one is None else np.asarray(one) for one in gradients]))
            case _:
                assert_never(node)

    def run(self) -> list[Delivery]:
        """Run until nothing is ready; return what came to the ends of lines."""
        deliveries = []
        while self._ready:
            delivery = self.step()
            if delivery is not None:
                deliveries.append(delivery)
        return deliveries

    def _pass_on(self, node: Node, visit: _Visit, gradients: Sequence[Gradient]) -> None:
        for edge, place, gradient in zip(node.edges, visit.places, gradients):  # noqa: B905 (one for each edge)
            if edge is not None and self._visits[edge.node].put(place, edge.slot, gradient):
                self._ready.append(edge.node)

    def _differentiated(self, node: Operation, gradient: Gradient) -> list[Gradient]:
        """Apply the rule's products for the inputs that need one, and free what they used.

        A node to which nothing came has nothing to pass on, and needs nothing of what it saved.
        """
        if gradient is None:
            return [None] * len(node.edges)
        saved = node.saved
        if saved is None:
            raise BackwardError(
                f"trying to backward through the graph a second time: what {node.rule.name} saved has been freed; "
                "give retain_graph=True the first time"
            )
        entering("a backward rule")
        try:
            rule, parameters, products = node.rule, node.parameters, []
            for position, edge in enumerate(node.edges):
                product = None if edge is None else rule.vjp(position)(gradient, *saved, **parameters)
                products.append(product if edge is None or product is None else _fitted(product, edge))
            return products
        except Exception as error:
            raise BackwardError(f"{node.rule.name}, going backward: {error}") from error
        finally:
            if not self._retain_graph and node.rule.saves_values:
                node.saved = None


def ends_of(roots: Iterable[Root]) -> list[Accumulate | Receive]:
    """Find the ends of all lines from some roots: where a walk from there would deliver."""
    return [node for node in _survey(roots) if type(node) is Accumulate or type(node) is Receive]


def _survey(roots: Iterable[Root]) -> dict[Node, _Visit]:
    """Find what takes part, and give each edge its place among those that lead to the same node."""
    visits: dict[Node, _Visit] = {root: _Visit(0) for root in roots}
    todo: list[Node] = list(visits)
    for node in todo:  # which grows on the way
        places = visits[node].places
        for edge in node.edges:
            if edge is None:
                places.append(-1)
                continue
            target = edge.node
            visit = visits.get(target)
            if visit is None:
                visit = visits[target] = _Visit(len(target.outputs))
                if target.edges:
                    todo.append(target)
            places.append(visit.expected)
            visit.expected += 1
    return visits


def _hooked(node: Node, gradients: list[Gradient]) -> list[Gradient]:
    """Show the gradients to the hooks, which may replace them; a missing one is not shown."""
    for slot, hook in tuple(node.hooks.values()) if node.hooks else ():
        gradient = gradients[slot]
        if gradient is not None:
            entering("a hook")
            replaced = hook(np.asarray(gradient))
            if replaced is not None:
                gradients[slot] = _checked(replaced, node.outputs[slot])
    return gradients


def _fitted(gradient: Array, edge: Edge) -> Array:
    """Undo broadcasting by summation, and take the dtype of the tensor."""
    shape, dtype = edge.node.outputs[edge.slot]
    if gradient.shape != shape:
        gradient = _summed_to(gradient, shape)
    return gradient if gradient.dtype == dtype else gradient.astype(dtype)


def _summed_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    extra = gradient.ndim - len(shape)
    lengths = tuple(zip(gradient.shape[max(extra, 0) :], shape, strict=False))
    if extra < 0 or any(after not in (before, 1) for before, after in lengths):
        raise ValueError(f"a gradient of shape {gradient.shape} for a tensor of shape {shape}")
    stretched = tuple(extra + axis for axis, (before, after) in enumerate(lengths) if before != after)
    summed: Any = gradient.sum(axis=(*range(extra), *stretched))
    return np.asarray(summed).reshape(shape)


def _checked(gradient: Any, output: Output) -> Array:
    """Accept a gradient from outside: its shape must be right, its dtype is made so."""
    array = gradient if type(gradient) is np.ndarray else np.asarray(gradient)
    if array.shape != output[0]:
        raise BackwardError(f"a gradient of shape {array.shape} for a tensor of shape {output[0]}")
    return array if array.dtype == output[1] else array.astype(output[1])
