"""A toy tape of scalars that knows on which worker everything is, and what was sent between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Node:
    """A scalar that needs a gradient, and what it was computed from."""

    value: float
    worker: str
    parents: tuple[tuple[Node, float], ...] = ()
    """Each with the derivative."""
    name: str = ""
    """Of a leaf."""
    operation: str = ""
    seconds: float = 0.0
    freed: bool = False


@dataclass(eq=False)
class Send:
    """A call that carried scalars: they left from one worker and are nodes of another now."""

    source: str
    arrived: tuple[Node, ...]


@dataclass(eq=False)
class Pass:
    """A backward pass under way."""

    roots: Sequence[Node]
    workers: set[str]
    over: threading.Event = field(default_factory=threading.Event)
    fault: Exception | None = None

    def fail(self, fault: Exception) -> None:
        """End it, unless it has ended."""
        self.fault = self.fault or fault
        self.over.set()


def compute(operation: str, args: Sequence[Node | float], worker: str) -> Node | float:
    """Compute something on a worker."""
    values = [one.value if isinstance(one, Node) else one for one in args]
    match operation:
        case "add":
            return _node(worker, values[0] + values[1], zip(args, (1, 1), strict=True), operation)
        case "mul":
            return _node(worker, values[0] * values[1], zip(args, reversed(values), strict=True), operation)
        case "fail":
            raise ValueError("it fails as it is computed")
        case "slow":
            time.sleep(values[1])
    seconds = values[1] if operation == "late" else 0.0
    return _node(worker, values[0], [(args[0], 1)], operation, seconds)


def _node(
    worker: str, value: float, parents: Iterable[tuple[Node | float, float]], operation: str, seconds: float = 0.0
) -> Node | float:
    nodes = tuple((one, factor) for one, factor in parents if isinstance(one, Node))
    return Node(value, worker, nodes, operation=operation, seconds=seconds) if nodes else value


def ordered(roots: Sequence[Node]) -> list[Node]:
    """List all that some roots depend on, each after everything that depends on it."""
    found: dict[Node, None] = {}
    waiting = [(root, False) for root in roots]
    while waiting:
        node, is_done = waiting.pop()
        if is_done:
            found[node] = None
        elif node not in found:
            waiting += [(node, True), *((parent, False) for parent, _ in node.parents)]
    return list(reversed(found))


def arriving(sends: Sequence[Send], reached: set[Node]) -> list[Send]:
    """List the sends that something comes back to: a gradient, or word that there is none for what was sent along (A22)."""
    found, touched = list[Send](), set(reached)
    while more := [one for one in sends if one not in found and touched.intersection(one.arrived)]:
        found += more
        touched.update(ordered([node for send in more for node in send.arrived]))
    return found
