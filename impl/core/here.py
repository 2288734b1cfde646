"""What every part of a core shares: who this worker is, whom else there is, who is dead, and the step that is being taken."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from farref.impl.core.effects import Effect, Send
from farref.impl.core.ids import FIRST_LIFE, ForkId, Incarnation, RRefId, WorkerId
from farref.impl.core.messages import AnyMessage
from farref.impl.errors import NotRunning, PeerDied, UnknownWorker, WasExcluded

LetEnd = Callable[[object], None]
"""Takes what a step has dropped of a graph, and lets it end."""


@dataclass(slots=True)
class Load:
    """What has arrived from one worker and has not ended: calls and creations that run or wait to, fetches that wait."""

    asked: int = 0
    bytes: int = 0
    """What the calls and creations among it came with."""

    def add(self, size: int) -> None:
        """Begin one more, which came with so many bytes."""
        self.asked += 1
        self.bytes += size

    def end(self, size: int) -> None:
        """End one of them."""
        self.asked -= 1
        self.bytes -= size


class Here:
    """One worker in one life."""

    def __init__(self, me: WorkerId, workers: Iterable[WorkerId], incarnation: Incarnation = FIRST_LIFE) -> None:
        self.me = me
        self.workers = set(workers)
        """Every worker id that was ever given out. It grows when somebody joins (R44)."""
        self.incarnation = incarnation
        self.now = 0.0
        """The time, as it was last told."""
        self.dead: dict[WorkerId, str] = {}
        """The workers that are excluded, and what is told of each (R37). It is never taken back."""
        self.buried: set[WorkerId] = set()
        """Those of them that are buried: nobody hears them, and nothing is kept for them (R41)."""
        self.fenced: str | None = None
        """Why this worker may not take part any more, if it has learned that it is excluded itself (R38)."""
        self.lives: dict[WorkerId, Incarnation] = {}
        """The incarnations that peers have shown as they met; of a peer that is not here any may come (R2)."""
        self.closing = False
        """Whether the application may begin nothing new (R32)."""
        self.loads: defaultdict[WorkerId, Load] = defaultdict(Load)
        """How much is done for each worker (`spec/limits.md`)."""
        self.minted = 0
        """How many numbers have been given to RRefs and forks."""
        self.effects: list[Effect] = []
        """The effects of the step that is being taken, in their order (`Core.taken` ends it)."""
        self.emit = self.effects.append
        """Add an effect to the step."""
        self.references_max = math.inf
        """How many references this worker may hold, and how many of its own values one peer may hold."""
        self.let_end: LetEnd = _let_end  # a core is a value that can be copied
        """Take what a step has dropped of a graph. To end it may run user code, so a shell with a lock does that elsewhere."""

    def check_open(self, peer: WorkerId | None = None) -> None:
        """Refuse to begin something on a worker that leaves (R32) or is excluded (R38), or with one that is excluded (R37)."""
        if self.fenced is not None:
            raise WasExcluded(self.fenced)
        if peer in self.dead:
            raise PeerDied(self.dead[peer])
        if peer is not None and peer not in self.workers:
            raise UnknownWorker(f"worker {peer} has not joined, as far as is known here")
        if self.closing:
            raise NotRunning(f"worker {self.me} is shutting down: no new creation, share or fetch (R32)")

    def check_fence(self) -> None:
        """Refuse any use on a worker that is excluded (R38)."""
        if self.fenced is not None:
            raise WasExcluded(self.fenced)

    def is_unborn(self, *ids: RRefId | ForkId | None) -> bool:
        """Say whether one of some ids is of a life that the worker which minted it has not begun (R2)."""
        lives = self.lives
        return any(one is not None and one.incarnation > lives.get(one.created_on, one.incarnation) for one in ids)

    def send(self, target: WorkerId, message: AnyMessage) -> None:
        """Have a message sent."""
        self.emit(Send(target, message))

    def new_rref(self) -> RRefId:
        """Mint an id for an RRef (R2)."""
        self.minted += 1
        return RRefId(self.me, self.incarnation, self.minted)

    def new_fork(self) -> ForkId:
        """Mint an id for a fork (R2)."""
        self.minted += 1
        return ForkId(self.me, self.incarnation, self.minted)


def _let_end(_: object) -> None:
    """Let something end at once, as nobody refers to it any more."""
