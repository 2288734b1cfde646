"""One event of a log as steps of the model: can it happen here, and what is the world after it?

A log is explained in a world of one RRef. Events say more than the model, counts instead
of flags, and less, as timeouts, losses and copies are not written. What is not written is granted:

* A control message or an answer that has arrived stays under way: the network may deliver it again (R3).
* An application that lets go while it fetches has given up on the fetch (R27).
* How an owner's code uses what it was sent is its own affair: it is taken for a result, so that nobody waits (R21).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from farref.model.actions import Deliver, Duplicate, FailCall
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.addressing import Role, holder, sharer
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.network import is_flying, is_unanswered, was_processed
from farref.model.rref.owner import Entry, is_listed
from farref.model.rref.rules import SOUND
from farref.model.rref.steps import step
from farref.model.rref.user import Fetch, User
from farref.model.rref.world import Bounds, World, empty_world
from farref.properties.logs.by_rref import ROLES, ForkFacts, RRefLog
from farref.properties.logs.format import Event

UNLIMITED: Final = 1 << 30
X0: Final = RRefId(0)

KINDS: Final = {kind.__name__: kind for kind in (*msg.CONTROL, *msg.USER_CALLS)}
CONTROL: Final = {kind.__name__: kind for kind in msg.CONTROL}
ACKS: Final = {f"Ack({name})": kind for name, kind in CONTROL.items()}


class Scene(NamedTuple):
    """Where an explanation stands: a world of the model, and what is who in it."""

    world: World
    forks: tuple[str, ...]  # by the model's number: the forks minted so far
    held: int  # handles that code on the owner has
    dropped: bool = False  # the owner has said that it dropped the value


@dataclass(frozen=True)
class Impossible:
    """An event cannot happen in a scene."""

    reason: str


class LogWorld:
    """The small world in which what a log says about one RRef is tried out."""

    def __init__(self, rref_log: RRefLog) -> None:
        self.rref_log = rref_log
        self.owner = rref_log.owner if rref_log.owner is not None else 0
        ranks = [self.owner, *(rank for rank in rref_log.by_worker if rank != self.owner)]
        self.bounds = Bounds(
            workers=max(2, len(ranks)),
            forks=max(1, len(rref_log.forks)),
            drops=UNLIMITED,
            duplicates=UNLIMITED,
            timeouts=UNLIMITED,
            fetches=UNLIMITED,
            failures=UNLIMITED,
            results=True,
        )
        self.workers = dict(zip(ranks, self.bounds.worker_ids, strict=False))
        self.ranks = {worker: rank for rank, worker in self.workers.items()}
        self.start = Scene(empty_world(self.bounds), (), 0)

    def do(self, scene: Scene, action: act.Action, mints: str | None = None) -> Scene | None:
        """Take a step of the model; it may mint a fork that has a name in the log."""
        after = step(scene.world, action, self.bounds, SOUND)
        if after is None:
            return None
        forks = scene.forks if mints is None else (*scene.forks, mints)
        held = scene.held + self._gives_handle_to_owner(scene, action)
        return Scene(after._replace(budgets=self.start.world.budgets), forks, held, scene.dropped)

    def _gives_handle_to_owner(self, scene: Scene, action: act.Action) -> bool:
        match action:
            case act.CreateLocal() | act.CreateOnSelf():
                return True
            case Deliver(msg.Call() | msg.Return() as carrier):
                return scene.world.lineage[carrier.fork].holder == self.bounds.owner(X0)
            case _:
                return False

    def facts(self, fork: str) -> ForkFacts:
        """Tell what the log says about a fork."""
        return self.rref_log.forks[fork]

    def carrier(self, fork: str) -> type[msg.Call | msg.Return]:
        """Say in what a fork travels. Where nobody says, in a result: that asks less of its receiver."""
        facts = self.facts(fork)
        return msg.Call if facts.carrier == "Call" and facts.holder != self.owner else msg.Return

    def explain(self, scene: Scene, event: Event) -> Scene | Impossible:
        """Let an event happen, or say why it cannot."""
        if event.fork is not None and event.fork not in scene.forks and event.event not in ("create remote", "share"):
            return Impossible(f"fork {event.fork} has not been made")
        match event.event:
            case "receive":
                return self._receive(scene, event)
            case "create local" | "create on self" | "create remote":
                return self._create(scene, event)
            case "share":
                return self._share(scene, event)
            case "let go":
                return self._let_go(scene, event)
            case "drop":
                return self._drop(scene)
            case "finish":
                after = self.do(scene, act.FinishFunction(X0))
                return after or Impossible("its function does not run")
            case "fetch":
                after = self.do(scene, act.FetchValue(self._number(scene, event)))
                return after or Impossible("its application does not hold the fork, or fetches already")
            case "withdraw" | "refuse" | "fail":
                return self._failure(scene, event)
            case _:
                return Impossible(f"an event {event.event!r} is about no RRef")

    # Beginnings

    def _create(self, scene: Scene, event: Event) -> Scene | Impossible:
        if event.event == "create remote":
            if event.worker == self.owner:
                return Impossible("a worker that creates on itself does so without a message (R12)")
            after = self.do(scene, act.CreateRemote(X0, self.workers[event.worker]), event.fork)
            return after or Impossible("it exists already")
        if event.worker != self.owner:
            return Impossible("it is owned by another worker")
        kind = act.CreateLocal if event.event == "create local" else act.CreateOnSelf
        return self.do(scene, kind(X0)) or Impossible("it exists already")

    def _share(self, scene: Scene, event: Event) -> Scene | Impossible:
        fork, target = event.fork or "", self.workers[event.to or 0]
        if fork in scene.forks:
            return Impossible("the fork exists already (R2)")
        if event.parent is None:
            if event.worker != self.owner:
                return Impossible("only the owner makes a fork without a parent (R14)")
            after = self.do(scene, act.OwnerShare(X0, target, self.carrier(fork)), fork)
            return after or Impossible("no code on the owner holds it")
        if event.parent not in scene.forks or self.holder(scene, event.parent) != event.worker:
            return Impossible(f"fork {event.parent} is not this worker's")
        parent = ForkId(scene.forks.index(event.parent))
        after = self.do(scene, act.UserShare(parent, target, self.carrier(fork)), fork)
        return after or Impossible(f"its application does not hold fork {event.parent}")

    # Messages

    def _receive(self, scene: Scene, event: Event) -> Scene | Impossible:
        message = self._message(scene, event)
        if message is None:
            return Impossible(f"there is no message {event.message}")
        if not is_flying(scene.world.network, message):
            return Impossible("no such message is under way")
        if not self._is_addressed(scene, event):
            return Impossible("it is not from there, or not for this worker")
        match message:
            case msg.Ack(of):
                if not is_unanswered(scene.world.network, of):
                    return Impossible("nobody waits for this answer")
                after = self.do(scene, Duplicate(message))
            case msg.ForkRequest() | msg.ChildAccept() | msg.UserDelete() | msg.CreateFailed():
                if event.effect == was_processed(scene.world.network, message):
                    return Impossible("a copy takes no effect, and what is no copy does (R7)")
                after = self.do(scene, Duplicate(message))
            case _:
                after = self.do(scene, Deliver(message))
        assert after is not None, "what is under way can arrive"
        return after

    def _message(self, scene: Scene, event: Event) -> msg.Message | None:
        fork, label = self._number(scene, event), event.message or ""
        if label in ("Call", "Return"):
            return self.carrier(event.fork or "")(X0, fork)
        if label in ACKS:
            return msg.Ack(ACKS[label](X0, fork))
        return KINDS[label](X0, fork) if label in KINDS else None

    def _is_addressed(self, scene: Scene, event: Event) -> bool:
        return (event.source, event.worker) == self.ends(scene, event.message or "", event.fork or "")

    def ends(self, scene: Scene, label: str, fork: str) -> tuple[int, int]:
        """Say from whom a message comes and to whom it goes."""
        source, target = ROLES[label]
        return self._rank(scene, source, fork), self._rank(scene, target, fork)

    def _rank(self, scene: Scene, role: Role, fork: str) -> int:
        if role is Role.OWNER:
            return self.owner
        return self.holder(scene, fork) if role is Role.HOLDER else self.sharer(scene, fork)

    def _failure(self, scene: Scene, event: Event) -> Scene | Impossible:
        """Let a message that carries a fork, or a creation, fail; its sender may hear of it at once (R28, R29)."""
        fork = self._number(scene, event)
        carried = event.event in ("withdraw", "refuse")
        message = self.carrier(event.fork or "")(X0, fork) if carried else msg.RemoteCall(X0, fork)
        if event.event == "fail" and event.message != "RemoteCall":
            return Impossible("that such a message fails is no part of these clauses (R34)")
        after = self.do(scene, FailCall(message))
        if after is None:
            return Impossible("no such message is under way")
        if event.event == "refuse":
            return after
        report = msg.CallFailed(X0, fork) if carried else msg.RemoteFailed(X0, fork)
        return self.do(after, Deliver(report)) or Impossible("nobody can be told")

    # Letting go

    def _let_go(self, scene: Scene, event: Event) -> Scene | Impossible:
        if event.fork is not None:
            fork = self._number(scene, event)
            if scene.world.users[fork].fetch is Fetch.WAITING:
                scene = self.do(scene, act.AbandonFetch(fork)) or scene
            return self.do(scene, act.LetGo(fork)) or Impossible("its application does not hold the fork")
        if event.worker != self.owner or not scene.held:
            return Impossible("no code on the owner holds it")
        fewer = scene._replace(held=scene.held - 1)
        return (
            fewer if fewer.held else self.do(fewer, act.OwnerLetGo(X0)) or Impossible("no code on the owner holds it")
        )

    def _drop(self, scene: Scene) -> Scene | Impossible:
        if scene.world.owners[X0].phase is not Entry.GONE:
            return Impossible("somebody can still name the value (R22)")
        return Impossible("the value has been dropped already (R22)") if scene.dropped else scene._replace(dropped=True)

    # Who is who, and who has what

    def left(self, scene: Scene) -> Iterator[tuple[str, int | None]]:
        """Name each thing that is in a table, and whose table that is."""
        owner = scene.world.owners[X0]
        if is_listed(owner) or not owner.forks.is_empty() or not owner.fetches.is_empty():
            yield "entries", self.owner
        for name, user in zip(scene.forks, scene.world.users, strict=False):
            if user.phase is not User.ABSENT:
                yield "users", self.holder(scene, name)
        for kind, forks in zip(msg.CONTROL, scene.world.network.unanswered, strict=True):
            for fork in forks.members():
                yield "unanswered", self.ends(scene, kind.__name__, scene.forks[fork])[0]

    def holder(self, scene: Scene, fork: str) -> int:
        """Say who holds a fork that was made."""
        return self.ranks[holder(scene.world, ForkId(scene.forks.index(fork)))]

    def sharer(self, scene: Scene, fork: str) -> int:
        """Say who made a fork for its holder."""
        return self.ranks[sharer(scene.world, ForkId(scene.forks.index(fork)), self.bounds)]

    def _number(self, scene: Scene, event: Event) -> ForkId:
        return ForkId(scene.forks.index(event.fork or ""))
