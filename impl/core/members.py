"""Who takes part, as one worker knows it: the view that it has installed, and what it does about the excluded (R35 to R45).

Whoever is excluded may live, and go on sending. So nothing that it held is let go at once. First everybody stops hearing it
(`install`). Then everybody says that it holds no *heir*: no fork that the excluded worker minted and its owner does not count
yet (`settle`). When all have said so, the authority has what it held released (`bury`). An heir is known by its id, which
names its minter, so settling needs no message between members.

`install`, `bury`, `exclude` and so on are steps of the core. The `on_…` methods do the same within a step that a message began.

A part of this worker that is told of a loss is in its own file: entries (`owner`), records (`user`), calls that wait (`calls`),
passes and contexts (`engine`). If the authority is hosted here, its orders to this worker take effect in the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final

from farref.impl.core.authority import Authority, Order
from farref.impl.core.autograd.engine import Engine
from farref.impl.core.calls import Calls
from farref.impl.core.channel import Channel
from farref.impl.core.effects import Effect, Fenced, Joined, KeepAuthority, Lost, Suspected
from farref.impl.core.here import Here
from farref.impl.core.ids import ForkId, WorkerId
from farref.impl.core.messages import AnyMessage, Excluded
from farref.impl.core.owner import Owner
from farref.impl.core.transitions import SAME, transitions
from farref.impl.core.user import User
from farref.impl.core.views import Buried, Suspect, View, ViewNumber, ViewSettled
from farref.impl.errors import PeerDied, RpcError, WasExcluded, WireError


class Phase(Enum):
    """What a worker is to this one. ABSENT has not joined yet, as far as is known here."""

    ABSENT = "absent"
    MEMBER = "member"
    EXCLUDED = "excluded"
    BURIED = "buried"


ABSENT, MEMBER, EXCLUDED, BURIED = Phase
EARLIER: Final = "worker {} was excluded before this worker joined"
"""What is told of somebody whose reason travels no more: only a worker that joins later has not heard it."""

# fmt: off
TRANSITIONS: Final = transitions(
    # handler        in phase                      leads to   and may ask for
    ("on_view",      (ABSENT,),                    MEMBER,    (Joined,)),
    ("on_view",      (ABSENT, MEMBER),             EXCLUDED,  (Lost,)),
    ("on_view",      (MEMBER, EXCLUDED),           BURIED,    (Lost,)),
    ("on_view",      (MEMBER, EXCLUDED, BURIED),   SAME,      ()),
    ("on_excluded",  (MEMBER,),                    EXCLUDED,  (Lost, Fenced)),
    ("on_excluded",  (EXCLUDED, BURIED),           SAME,      ()),
    ("on_buried",    (MEMBER, EXCLUDED, BURIED),   SAME,      (Joined,)),
    ("on_buried",    (EXCLUDED,),                  BURIED,    ()),
)
# fmt: on
"""What can happen to a worker in the eyes of another. To one that is excluded itself, everybody else is lost (R38).

A view is settled and buried at once where the authority is hosted, if nobody else is left.
"""


class Members:
    """The members of a world, as one worker knows them."""

    def __init__(
        self,
        here: Here,
        channel: Channel,
        owner: Owner,
        user: User,
        calls: Calls,
        engine: Engine,
        taken: Callable[[], list[Effect]],
    ) -> None:
        self._here, self._channel, self._taken = here, channel, taken
        self._owner, self._user, self._calls, self._engine = owner, user, calls, engine
        self.view: ViewNumber = 0
        """The newest view installed."""
        self.settled: ViewNumber = 0
        self.buried: ViewNumber = 0
        self.since: dict[WorkerId, ViewNumber] = {}
        """The view in which each excluded worker was lost to this one."""
        self.heirs: set[ForkId] = set()
        """Forks held here that an excluded worker minted and that their owners do not count yet (R39)."""
        self.newcomers: dict[WorkerId, ViewNumber] = {}
        """Workers that came with a view which is not buried yet."""
        self.authority: WorkerId = WorkerId(0)
        """Who hosts the authority."""
        self.hosted: Authority | None = None
        self.handlers: Mapping[type, Callable[[WorkerId, Any], None]] = {
            View: self.on_view,
            Buried: self.on_buried,
            ViewSettled: self.on_settled,
            Suspect: self.on_suspect,
        }

    def phase(self, worker: WorkerId) -> Phase:
        """Say what a worker is to this one."""
        if worker in self._here.buried:
            return BURIED
        if worker in self._here.dead or (worker == self._here.me and self._here.fenced is not None):
            return EXCLUDED
        return MEMBER if worker in self._here.workers else ABSENT

    def known(self) -> Iterable[WorkerId]:
        """List every worker that has ever been a member, as far as is known here."""
        return self._here.workers

    # Steps

    def install(self, view: View) -> list[Effect]:
        """Install a view that came in another way than as a message: a worker that joins is given one (R37, R44)."""
        self.on_view(self.authority, view)
        return self._taken()

    def bury(self, number: ViewNumber) -> list[Effect]:
        """Hear in another way than by a message that a view is buried (R41, R42)."""
        self.on_buried(self.authority, Buried(number))
        return self._taken()

    def host(self, authority: Authority) -> list[Effect]:
        """Host the authority from now on. One that was restarted gives its last orders again (R35)."""
        self.hosted, self.authority = authority, self._here.me
        self._give(authority.again())
        return self._taken()

    def exclude(self, workers: Iterable[WorkerId], reason: str) -> list[Effect]:
        """Have the authority, which is hosted here, exclude some workers. The host cannot be one of them (R35)."""
        assert self.hosted is not None, "the authority is hosted elsewhere"
        self._give(self.hosted.exclude([who for who in workers if who != self._here.me], reason))
        return self._taken()

    def admit(self) -> tuple[WorkerId, View, list[Effect]]:
        """Have the authority, which is hosted here, admit one more worker: its id, and the view to install first (R44)."""
        assert self.hosted is not None, "the authority is hosted elsewhere"
        newcomer, orders = self.hosted.admit()
        view = self.hosted.view
        self._give(orders)
        return newcomer, view, self._taken()

    def suspect(self, worker: WorkerId, reason: str) -> list[Effect]:
        """Advise the authority that a worker does not answer. Nothing else changes (R36)."""
        if self.hosted is not None:
            self.on_suspect(self._here.me, Suspect(worker, reason))
        elif worker not in (self.authority, *self._here.dead):
            self._channel.send(self.authority, Suspect(worker, reason))
        return self._taken()

    # Orders of the authority

    def on_view(self, source: WorkerId, view: View) -> None:
        """Install a view, if it is newer (R37). Of one that comes again, say again that it is settled."""
        self._check_authority(source)
        if view.number > self.view:
            self.view = view.number
            self._let_in(view)
            lost = {who: reason or EARLIER.format(who) for who, reason in view.excluded if who not in self._here.dead}
            self._lose(lost, PeerDied)
            self.heirs = {fork for fork in self._user.pending() if fork.created_on in self._here.dead}
            self.settle()
        elif self.settled == self.view:
            self._tell_settled()

    def on_buried(self, source: WorkerId, buried: Buried) -> None:
        """Let go of everything that is kept for those excluded in a view (R41, R42)."""
        self._check_authority(source)
        if buried.number > self.view:
            raise WireError(f"view {buried.number} is buried, and was not settled here")
        self.buried = max(self.buried, buried.number)
        gone = {who for who, number in self.since.items() if number <= self.buried} - self._here.buried
        self._here.buried |= gone
        self._owner.release(gone)
        self._user.forget_children_of(gone)
        for who in [who for who, number in self.newcomers.items() if number <= self.buried]:
            del self.newcomers[who]
            if who not in self._here.dead:
                self._here.emit(Joined(who))

    def settle(self) -> None:
        """Tell the authority that this view is settled, once no heir is left (R39)."""
        if not self.heirs and self.settled < self.view:
            self.settled = self.view
            self._tell_settled()

    def confirmed(self, fork: ForkId) -> None:
        """Note that an heir is counted."""
        self.heirs.discard(fork)
        self.settle()

    def keep_all(self) -> bool:
        """Say whether all that is left in the tables is kept for those who are excluded (R45)."""
        dead = self._here.dead
        if not dead or self._channel.owes():
            return False
        return self._owner.is_kept_for(dead) and self._user.is_kept_for(dead)

    # The fence

    def answer(self, source: WorkerId, message: AnyMessage) -> None:
        """Take nothing from an excluded worker, and tell it so (R37, R38)."""
        if source in self.since and self._here.fenced is None and type(message) is not Excluded:
            self._here.send(source, Excluded(self.view, self._here.dead[source]))

    def on_excluded(self, _: WorkerId, message: Excluded, __: object = None) -> None:
        """Learn that this worker is excluded (R38)."""
        self._fence(message.number, message.reason)

    def _fence(self, number: ViewNumber, reason: str) -> None:
        """Refuse every further use, and take everybody else for lost: nothing is said or heard any more."""
        here = self._here
        here.fenced = f"worker {here.me} was excluded in view {number}: {reason}"
        here.emit(Fenced(here.me, here.fenced))
        self.view = max(self.view, number)
        self.heirs.clear()
        self._engine.excluded()
        self._lose({who: here.fenced for who in here.workers if who not in here.dead and who != here.me}, WasExcluded)

    # The authority, where it is hosted

    def on_settled(self, source: WorkerId, settled: ViewSettled) -> None:
        """Tell the authority here what a member has settled."""
        if self.hosted is not None:
            self._give(self.hosted.on_settled(source, settled.number))

    def on_suspect(self, source: WorkerId, suspect: Suspect) -> None:
        """Pass advice on to whoever decides (R36)."""
        if self.hosted is not None and suspect.worker in self.hosted.members():
            self._here.emit(Suspected(suspect.worker, source, suspect.reason))

    def _give(self, orders: list[Order]) -> None:
        """Have orders kept, then given. Those to this worker take effect first, so that it knows whoever is new."""
        if self.hosted is None or not orders:
            return
        me = self._here.me
        self._here.emit(KeepAuthority(self.hosted.state()))
        for order in sorted(orders, key=lambda order: order.target != me):
            if order.target != me:
                self._channel.send(order.target, order.body)
            elif isinstance(order.body, View):
                self.on_view(me, order.body)
            else:
                self.on_buried(me, order.body)

    # Beneath

    def _check_authority(self, source: WorkerId) -> None:
        if source not in (self.authority, self._here.me):
            raise WireError(f"worker {source} gives orders, and is not the authority")

    def _tell_settled(self) -> None:
        if self.hosted is not None:
            self._give(self.hosted.on_settled(self._here.me, self.settled))
        else:
            self._channel.send(self.authority, ViewSettled(self.settled))

    def _let_in(self, view: View) -> None:
        """Note the workers that this view is the first to have."""
        for who in map(WorkerId, range(view.workers)):
            if who not in self._here.workers:
                self._here.workers.add(who)
                self.newcomers[who] = view.number

    def _lose(self, lost: dict[WorkerId, str], kind: type[RpcError]) -> None:
        """Stop hearing some workers, all of them at once, and end what only they could end (R37, R43)."""
        self._here.dead.update(lost)
        self.since.update(dict.fromkeys(lost, self.view))
        for who, reason in lost.items():
            self._here.emit(Lost(who, reason))
            self._channel.forget(who)
        for who, reason in lost.items():
            self._end_waits(who, kind(reason))

    def _end_waits(self, peer: WorkerId, error: RpcError) -> None:
        for fork in self._user.on_peer_died(peer, error):
            self._calls.give_up(fork, error)
        self._owner.on_peer_died(peer)
        self._engine.peer_died(peer)

    def declare_dead(self, peer: WorkerId, reason: str) -> list[Effect]:
        """Do as if a view excluded a worker. As it will not be buried, nothing is marked (R34)."""
        if peer not in self._here.dead and peer != self._here.me:
            self._here.dead[peer] = reason
            self._here.buried.add(peer)
            self._channel.forget(peer)
            self._end_waits(peer, PeerDied(reason))
        return self._taken()
