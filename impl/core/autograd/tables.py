"""What a worker keeps for each context (A8), and what the parts of the engine share.

A context that is CLOSED keeps its id and its account of calls, and nothing else. ABSENT and GONE are the same here: no row.
Graphs and gradients belong to the tape. They are kept in the row so that they go with it.

A message to oneself is not a message: it waits in `local` until the step that caused it is complete, and takes effect within
the same call of the engine (A5).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, Final

from msgspec import Struct, field

from farref.impl.core.autograd.graph import Gradients, Node
from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.autograd.ledger import Pass
from farref.impl.core.autograd.messages import EngineBody
from farref.impl.core.autograd.task import Task
from farref.impl.core.channel import Channel
from farref.impl.core.here import Here
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.errors import ContextReleased

_counts: Final[Callable[[], dict[Any, int]]] = partial(defaultdict, int)


class Stage(Enum):
    """How far a context has come on one worker (A8). GONE is the same as ABSENT: no row."""

    ABSENT = "absent"
    OPEN = "open"
    IN_PASS = "in a pass"
    CLOSED = "closed"


class Sent(Struct, frozen=True):
    """The send of a pair: where its gradients come in, and the function it was a call of."""

    function: str
    node: Node


class Release(Struct):
    """What the creator of a released context knows (A25). `balance` is calls sent less calls settled, for each two workers."""

    told: dict[WorkerId, None]
    closed: set[WorkerId] = field(default_factory=set)
    balance: dict[tuple[WorkerId, WorkerId], int] = field(default_factory=_counts)


class Context(Struct):
    """What a worker keeps for one context (A8)."""

    is_open: bool = True
    sends: dict[ForwardId, Sent] = field(default_factory=dict)
    recvs: dict[Node, ForwardId] = field(default_factory=dict)
    gradients: Gradients = field(default_factory=dict)
    sent: dict[WorkerId, int] = field(default_factory=_counts)
    got: dict[WorkerId, int] = field(default_factory=_counts)
    failed: dict[WorkerId, int] = field(default_factory=_counts)
    task: Task | None = None
    newest: dict[WorkerId, tuple[Incarnation, int]] = field(default_factory=dict)
    """For each root the newest pass heard of: its life, and its number in that life (A12)."""
    release: Release | None = None
    unheard: tuple[WorkerId, ...] = ()
    """Those whom the creator does not hear any more, and this worker still does. Only that keeps the id (A29)."""

    @property
    def stage(self) -> Stage:
        """How far this context has come."""
        if not self.is_open:
            return Stage.CLOSED
        return Stage.OPEN if self.task is None else Stage.IN_PASS


class EngineTables:
    """All contexts of one worker, and the passes that it is the root of."""

    def __init__(self, here: Here, channel: Channel) -> None:
        self.here = here
        self.me, self.workers, self.incarnation, self.dead = here.me, here.workers, here.incarnation, here.dead
        self.emit = here.emit
        self.contexts: dict[ContextId, Context] = {}
        self.passes: dict[PassId, Pass] = {}
        self.rooted: dict[ContextId, Pass] = {}
        """The same passes by context: a worker is the root of one at a time in each (A10)."""
        self.local: deque[EngineBody] = deque()
        self._send = channel.send
        self._minted = 0

    def opened(self, context_id: ContextId) -> Context:
        """Find a context that is open here."""
        context = self.contexts.get(context_id)
        if context is None or not context.is_open:
            raise ContextReleased(
                f"{context_id.told} is not open on worker {self.me}: it was released, or never came here"
            )
        return context

    def tell(self, target: WorkerId, body: EngineBody) -> None:
        """Send a control message of the engine, to another worker or to oneself."""
        if target == self.me:
            self.local.append(body)
        else:
            self._send(target, body)

    def mint(self) -> int:
        """Give a number to a context, a call or a pass (A2)."""
        self._minted += 1
        return self._minted
