"""The tables of one worker, and the moves that operations and arrivals share."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from farref.impl.core.autograd.engine import Engine
from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.channel import Channel
from farref.impl.core.effects import Effect, Send
from farref.impl.core.ids import (
    FIRST_LIFE,
    FetchId,
    ForkData,
    ForkId,
    Incarnation,
    OwnedReference,
    Reference,
    UserReference,
    WorkerId,
)
from farref.impl.core.messages import AnyMessage, ControlBody
from farref.impl.core.owner import Owner
from farref.impl.core.parking import Parking
from farref.impl.core.user import User
from farref.impl.errors import WireError


class Tables:
    """The tables of one worker, and what operations and arrivals have in common."""

    def __init__(self, me: WorkerId, workers: Collection[WorkerId], incarnation: Incarnation = FIRST_LIFE) -> None:
        self.me = me
        self.workers = frozenset(workers)
        self.incarnation = incarnation
        self.now = 0.0
        self.closing = False
        self.dead: dict[WorkerId, str] = {}
        self._effects: list[Effect] = []
        self._minted = 0
        self._calls = 0
        self.channel = Channel(incarnation)
        self.owner = Owner(self._emit)
        self.user = User(self._emit, self._control, self.dead)
        self.parking = Parking()
        self.engine = Engine(me, self.workers, incarnation, self._emit, self._control)
        self.fetching: dict[tuple[WorkerId, FetchId], ContextId] = {}
        """The contexts of fetches that were asked for here and have not been answered (A4)."""

    def _emit(self, effect: Effect) -> None:
        self._effects.append(effect)

    def _taken(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    def _send(self, target: WorkerId, message: AnyMessage) -> None:
        self._effects.append(Send(target, message))

    def _control(self, target: WorkerId, body: ControlBody) -> None:
        """Send a control message, to be sent again until answered (R6). There is nobody to tell at a dead peer (R30)."""
        if target not in self.workers:
            raise WireError(f"a peer speaks of worker {target}, and there is none")
        if target not in self.dead:
            for control in self.channel.to(target).add(body, self.now):
                self._send(target, control)

    def _mint(self) -> int:
        self._minted += 1
        return self._minted

    def _let_go(self, reference: Reference) -> None:
        match reference:
            case OwnedReference(rref):
                self.owner.let_go(rref)
            case UserReference(fork=fork):
                self.user.let_go(fork)
            case _:
                assert_never(reference)

    def _withdraw(self, data: ForkData) -> None:
        if data.parent is None:
            self.owner.withdraw(data.rref, data.fork)
        else:
            self.user.forget_child(data.fork)

    def _confirm(self, fork: ForkId) -> None:
        self.user.confirm(fork)
        run = self.parking.confirm(fork)
        if run is not None:
            self._emit(run)
