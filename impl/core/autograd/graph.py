"""What the engine knows of a tape: graphs have nodes and edges, and a walk takes gradients in and gives gradients out.

The engine keeps graphs and gradients for the tape, and computes nothing itself. So the core needs no arrays: the shell brings
the walk along when it has a task's work done (`Task.process`). The real one is `GradientWalk` in `values/gradients.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from farref.impl.core.autograd.ids import ContextId, ForwardId

Gradients = dict[Any, Any]
"""The gradient of each leaf of a worker. The leaves are the tape's, and so are the numbers."""


class Edge(Protocol):
    """Where a tensor's gradient goes."""

    @property
    def node(self) -> Node:
        """The node it goes to."""


class Node(Protocol):
    """A step of a backward pass."""

    @property
    def edges(self) -> Sequence[Edge | None]:
        """Where the gradients go next; `None` for an input that requires none."""


class Passage(Protocol):
    """A call that is about to leave in a context (A4, A8)."""

    @property
    def context(self) -> ContextId:
        """The context it carries."""

    @property
    def function(self) -> str:
        """What it is a call of, in words for people."""

    @property
    def node(self) -> Node | None:
        """Where the gradients of its pair will come in, if it has a pair."""


Within = Passage | None
"""The context that a call is made within, if it is made within one."""


class Delivery(NamedTuple):
    """What came to a recv: written gradients, and whether there is none for any of its tensors."""

    forward: ForwardId
    written: bytes
    is_nothing: bool


class Walk(Protocol):
    """A backward pass over the graph of one task. It can stop anywhere, and goes on when more has arrived."""

    @property
    def staged(self) -> Gradients:
        """The gradients of the leaves that were reached. Nobody can see them before the pass commits (A17)."""

    def seed(self, root: Any, seeds: Any) -> None:
        """Take in what the pass begins with."""

    def arrive(self, root: Any, written: bytes) -> None:
        """Take in written gradients; raise an error if they cannot be read or do not fit."""

    def give_up(self, root: Any) -> None:
        """Take in that nothing will come for a root."""

    def waits_for(self, root: Any) -> bool:
        """Say whether nothing has come for a root yet, and it has not been given up."""

    def run(self) -> Iterator[Delivery]:
        """Go on as far as possible, and hand out what goes to other workers."""

    def free(self, roots: Iterable[Any]) -> None:
        """Give up what was saved for a pass behind some roots (A23)."""


BeginWalk = Callable[[Iterable[Any], Mapping[Any, ForwardId]], Walk]
"""Begins a walk from some roots; the mapping says which nodes are recvs, and of which calls."""
