"""The authority: the one place that decides who is excluded, and when they are buried (R35, R40). No clock, no sockets.

It is hosted by one worker, whose core sends its orders (`Members.host`). Any failure detector may advise it, and none need be
right. It buries the newest view only. A view in which somebody was a member who is lost since is never buried: the next one is,
in which that one is excluded too. `Buried` for a view holds for all before it.

What it must not forget is written by `state` before its orders are sent. Restarted from that, it gives its last orders again.
Orders are control messages, so to give one twice does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from farref.impl.core.ids import WorkerId
from farref.impl.core.views import Buried, View, ViewNumber

REASON_MAX = 400
"""How many characters of a reason travel. Views repeat it until one is buried: then every member knows it."""


class Order(NamedTuple):
    """What the authority has a member told."""

    target: WorkerId
    body: View | Buried


class _State(msgspec.Struct, frozen=True, array_like=True):
    """What is written down."""

    view: View
    settled: dict[WorkerId, ViewNumber]
    buried: ViewNumber


class Authority:
    """Issues views, and buries them."""

    def __init__(self, workers: int) -> None:
        self.view = View(0, workers, ())
        self.buried: ViewNumber = 0
        """The newest view that is buried."""
        self.settled = {WorkerId(rank): 0 for rank in range(workers)}
        """The members, and the newest view that each has settled."""

    @classmethod
    def from_state(cls, state: bytes) -> Authority:
        """Go on where another one ended (R35)."""
        kept = msgspec.msgpack.decode(state, type=_State)
        again = cls(0)
        again.view, again.settled, again.buried = kept.view, dict(kept.settled), kept.buried
        return again

    def state(self) -> bytes:
        """Give what has to be kept."""
        return msgspec.msgpack.encode(_State(self.view, self.settled, self.buried))

    def members(self) -> tuple[WorkerId, ...]:
        """List whoever is not excluded."""
        return tuple(self.settled)

    def unsettled(self) -> tuple[WorkerId, ...]:
        """List the members that have not settled the newest view (R40)."""
        return tuple(worker for worker, number in self.settled.items() if number < self.view.number)

    def exclude(self, workers: Iterable[WorkerId], reason: str) -> list[Order]:
        """Issue a view in which some more are excluded, for ever. Those who are already change nothing."""
        lost = [worker for worker in workers if worker in self.settled]
        if not lost:
            return []
        for worker in lost:
            del self.settled[worker]
        news = tuple((worker, reason[:REASON_MAX]) for worker in lost)
        return self._issue(View(self.view.number + 1, self.view.workers, self.view.excluded + news))

    def admit(self) -> tuple[WorkerId, list[Order]]:
        """Issue a view with one worker more. It gets `view` as it joins, and has settled it (R39, R44)."""
        newcomer = WorkerId(self.view.workers)
        view = View(self.view.number + 1, self.view.workers + 1, self.view.excluded)
        orders = self._issue(view)
        self.settled[newcomer] = view.number
        return newcomer, orders

    def on_settled(self, worker: WorkerId, number: ViewNumber) -> list[Order]:
        """Hear that a member has settled a view, and bury that if it is the newest and all others have (R40)."""
        if worker not in self.settled or number > self.view.number:
            return []
        self.settled[worker] = max(self.settled[worker], number)
        return self._bury()

    def again(self) -> list[Order]:
        """Give the last orders again: what an authority that was restarted begins with."""
        orders = self._issue(self.view) if self.view.number else []
        return orders + [Order(member, Buried(self.buried)) for member in self.members() if self.buried]

    def _issue(self, view: View) -> list[Order]:
        self.view = view
        return [Order(member, view) for member in self.members()]

    def _bury(self) -> list[Order]:
        newest = self.view.number
        if self.buried == newest or self.unsettled():
            return []
        self.buried = newest
        self.view = replace(self.view, excluded=tuple((worker, "") for worker, _ in self.view.excluded))
        return [Order(member, Buried(newest)) for member in self.members()]
