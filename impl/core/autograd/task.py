"""A worker's part in a pass: what it waits for, what it has so far, and what goes out (A11, A13, A16).

A task is a value that nobody else looks into while it works. It may run rules and hooks, which are user code, so a shell
works on it outside of any lock, one message after the other, and hands what came of each back to the engine. The numbers
are the affair of a walk, which the shell brings along (`graph.Walk`): the gradients of a send arrive at its root, and what is
delivered at a recv goes out. Saved values are freed as the pass commits and not on the way, so that a pass that fails can be
begun again (A23).

*What cannot come.* A send that was given up arrives with nothing for each of its tensors. What depends on such sends alone
is delivered with nothing, and stays here. But where a send has come, its pair counts as used, even if its gradients miss the
tensor that mattered: then all of them are nothing, and they go out all the same, as somebody may wait for them (A15, A22).

*Marks.* To find what depends on a send, the graph behind it is coloured. A node is coloured once: first from what has come,
then from each marked send in turn. So a new mark finds just the recvs that nothing has come for and that no earlier mark
found, as A16 wants it, and all marks together take one walk over the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, assert_never

from msgspec import Struct

from farref.impl.core.autograd.graph import BeginWalk, Gradients, Node, Walk
from farref.impl.core.autograd.ids import ForwardId, PassId
from farref.impl.core.autograd.messages import Begin, CountedBody, Mark, PropagateGradients, Resume, Seek


class Progress(Struct, frozen=True):
    """What came of one message: written gradients, marks, and the sends waited for if these are news."""

    gradients: Sequence[tuple[ForwardId, bytes]] = ()
    marks: tuple[ForwardId, ...] = ()
    waits: tuple[ForwardId, ...] | None = None


class Task:
    """A worker's part in one pass. `sends` are those recorded when it engaged, `root` is where the loss comes in."""

    def __init__(
        self,
        pass_id: PassId,
        sends: Mapping[ForwardId, Node],
        recvs: Mapping[Node, ForwardId],
        root: Node | None = None,
        seeds: Any = (),
    ) -> None:
        self.pass_id = pass_id
        self.sends = dict(sends)
        self.come: list[Node] = []
        """The roots whose gradients have come: those of sends, and the one where the loss comes in."""
        self.marked: set[ForwardId] = set()
        self._recvs = recvs
        self._root, self._seeds = root, seeds
        self._walk: Walk | None = None
        self._out: set[ForwardId] = set()
        self._coloured: set[Node] = set()
        self._reached: list[ForwardId] = []
        self._foreseen: list[ForwardId] = []
        self._told = self._resumed = False

    @property
    def staged(self) -> Gradients:
        """The gradients of leaves so far. Nobody can see them before the pass commits (A17)."""
        return {} if self._walk is None else self._walk.staged

    def process(self, body: CountedBody | Begin, begin: BeginWalk) -> Progress:
        """Process one message, and say what comes of it. `begin` begins the walk, if this is the first that needs one."""
        match body:
            case PropagateGradients(forward=forward, body=written):
                root = self.sends[forward]
                return self._arrive(root, begin, lambda walk: walk.arrive(root, written))
            case Begin():
                assert self._root is not None
                return self._arrive(self._root, begin, lambda walk: walk.seed(self._root, self._seeds))
            case Seek():
                return self._seek()
            case Mark(forward=forward):
                return self._mark(forward)
            case Resume():
                return self._resume(begin)
            case _:
                assert_never(body)

    def commit(self, gradients: Gradients) -> None:
        """Add what was kept aside to the gradients that can be seen; free what the pass used (A17, A23)."""
        for leaf, gradient in self.staged.items():
            gradients[leaf] = gradients[leaf] + gradient if leaf in gradients else gradient
        if self._walk is not None and not self.pass_id.retain:
            self._walk.free(self.come)

    def _arrive(self, root: Node, begin: BeginWalk, let_in: Callable[[Walk], None]) -> Progress:
        """Take in the gradients of an entry, and go on as far as possible (A13)."""
        news = None if self._told else self._news()
        walk = self._walk or self._begun(begin)
        let_in(walk)
        self.come.append(root)
        return Progress(self._advance(walk), waits=news)

    def _seek(self) -> Progress:
        """Find the recvs that have something to add up and have not gone out (A16)."""
        self._colour_what_came()
        return Progress(marks=tuple(forward for forward in self._reached if forward not in self._out))

    def _mark(self, forward: ForwardId) -> Progress:
        """Mark a send, and find the recvs that are known to get something by this only (A16)."""
        news = self._news()
        self._colour_what_came()
        self.marked.add(forward)
        found = self._colour([self.sends[forward]])
        self._foreseen += found
        return Progress(marks=tuple(found), waits=news)

    def _resume(self, begin: BeginWalk) -> Progress:
        """Give up every send that has neither come nor been marked, and go on (A16)."""
        self._colour_what_came()
        self._resumed = True
        walk = self._begun(begin)
        for forward in [one for one in self.sends if one not in self.marked and walk.waits_for(self.sends[one])]:
            walk.give_up(self.sends.pop(forward))
        return Progress(self._advance(walk), waits=tuple(self.sends))

    def _news(self) -> tuple[ForwardId, ...] | None:
        """The sends waited for, the first time."""
        told, self._told = self._told, True
        return None if told else tuple(self.sends)

    def _begun(self, begin: BeginWalk) -> Walk:
        if self._walk is None:
            roots = [self._root] if self._root is not None else []
            self._walk = begin([*roots, *self.sends.values()], self._recvs)
        return self._walk

    def _advance(self, walk: Walk) -> list[tuple[ForwardId, bytes]]:
        leaving = []
        for forward, written, is_nothing in walk.run():
            if not (is_nothing and self._is_given_up(forward)):
                self._out.add(forward)
                leaving.append((forward, written))
        return leaving

    def _is_given_up(self, forward: ForwardId) -> bool:
        """Say whether all sends that a recv depends on were given up."""
        return self._resumed and forward not in self._reached and forward not in self._foreseen

    def _colour_what_came(self) -> None:
        """Colour what depends on what has come. While marks are out nothing new comes, so this is done before the first."""
        if not self.marked:
            self._reached += self._colour(self.come)

    def _colour(self, roots: Iterable[Node]) -> list[ForwardId]:
        """Colour what is behind some roots, and list the recvs that had no colour yet."""
        found = []
        todo = list(roots)
        while todo:
            node = todo.pop()
            if node in self._coloured:
                continue
            self._coloured.add(node)
            forward = self._recvs.get(node)
            if forward is not None:
                found.append(forward)
            todo.extend(edge.node for edge in node.edges if edge is not None)
        return found
