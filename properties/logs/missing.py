"""What a worker may have done that no log tells, as steps of the model.

Some steps can only help to explain what others logged, so they are taken as soon as they can be: to create, to receive, to
make the forks that turn up elsewhere, to end a function. In an unordered network a message that is under way early is no
different from one that is late, and the sound protocol keeps a value as long as anybody may still name it. Other steps close
doors: to let go, to fetch, to refuse. They are tried only where a logged event waits for what they send.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from farref.model.actions import Deliver, FailCall
from farref.model.messages import kind_of
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId
from farref.model.rref.user import Fetch, Handle
from farref.properties.logs.by_rref import SUPPOSED
from farref.properties.logs.explain import X0, LogWorld, Scene

CREATIONS: Final = frozenset({"create local", "create on self", "create remote"})

Wanted = Collection[tuple[str, str]]
"""What logged events wait for: the label of a message, and its fork."""

Ahead = Collection[tuple[str, str | None]]
"""What a worker's log still tells, and so is not missing here: each event or message, and its fork."""


def helpful_steps(log_world: LogWorld, scene: Scene, rank: int, ahead: Ahead) -> Iterator[Scene]:
    """Give the scenes after each step of a worker that can only help, and that its log does not tell later."""
    if not any(name in CREATIONS for name, _ in ahead):
        yield from _creations(log_world, scene, rank)
    yield from _arrivals(log_world, scene, rank, ahead)
    made_here = [name for name, facts in log_world.rref_log.forks.items() if facts.minter == rank]
    certain = [name for name in made_here if _is_certain(log_world, name) and ("share", name) not in ahead]
    yield from _shares(log_world, scene, rank, certain)
    if rank == log_world.owner and ("finish", None) not in ahead:
        finished = log_world.do(scene, act.FinishFunction(X0))
        yield from [] if finished is None else [finished]


def supposed_steps(log_world: LogWorld, scene: Scene, rank: int, wanted: Wanted, ahead: Ahead) -> Iterator[Scene]:
    """Give the scenes after each share that has to be guessed: of a fork nobody mentions, or from one nobody names."""
    for name in dict.fromkeys(name for _, fork in wanted for name in _missing(log_world, scene, fork)):
        facts = log_world.facts(name)
        by_me = facts.minter == rank and ("share", name) not in ahead
        if by_me or (facts.minter is None and facts.holder != rank):
            yield from _shares(log_world, scene, rank, [name])


def _missing(log_world: LogWorld, scene: Scene, fork: str | None) -> Iterator[str]:
    """List the forks that have to be made, and are not, before a fork can do anything."""
    while fork is not None and fork not in scene.forks and fork in log_world.rref_log.forks:
        facts = log_world.facts(fork)
        if not _is_certain(log_world, fork):
            yield fork
        supposed = f"{SUPPOSED} of {facts.minter}"
        if supposed in log_world.rref_log.forks:
            yield supposed
        fork = facts.parent


def _is_certain(log_world: LogWorld, name: str) -> bool:
    """Say whether there is one way only in which a fork can have been made."""
    facts = log_world.facts(name)
    return facts.parent is not None or facts.minter == log_world.owner


def wanted_steps(log_world: LogWorld, scene: Scene, rank: int, wanted: Wanted) -> Iterator[Scene]:
    """Give the scenes after each step of a worker that sends, now or later, what others wait for."""
    for label, name in wanted:
        if name not in scene.forks:
            continue
        fork = ForkId(scene.forks.index(name))
        holds = log_world.holder(scene, name) == rank
        after: Scene | None = None
        match label:
            case "UserDelete" if holds:
                after = _let_go(log_world, scene, fork)
            case "FetchCall" if holds:
                after = log_world.do(scene, act.FetchValue(fork))
            case "CallFailed" if holds:
                after = log_world.do(scene, FailCall(log_world.carrier(name)(X0, fork)))
            case "CreateFailed" if holds:
                failed = log_world.do(scene, FailCall(msg.RemoteCall(X0, fork)))
                after = failed and log_world.do(failed, Deliver(msg.RemoteFailed(X0, fork)))
        if after is not None:
            yield after


def _let_go(log_world: LogWorld, scene: Scene, fork: ForkId) -> Scene | None:
    if scene.world.users[fork].fetch is Fetch.WAITING:
        scene = log_world.do(scene, act.AbandonFetch(fork)) or scene
    return log_world.do(scene, act.LetGo(fork))


def _creations(log_world: LogWorld, scene: Scene, rank: int) -> Iterator[Scene]:
    if rank != log_world.rref_log.creator or scene.forks:
        return
    if rank == log_world.owner:
        created = log_world.do(scene, act.CreateOnSelf(X0))
    else:
        fork = next(
            (name for name, facts in log_world.rref_log.forks.items() if facts.is_creators), log_world.rref_log.rref
        )
        created = log_world.do(scene, act.CreateRemote(X0, log_world.workers[rank]), fork)
    if created is not None:
        yield created


def _arrivals(log_world: LogWorld, scene: Scene, rank: int, ahead: Ahead) -> Iterator[Scene]:
    for kind, forks in enumerate(scene.world.network.flying):
        if not any(forks):
            continue
        for fork in forks.members():
            message, name = msg.message_of(kind, X0, ForkId(fork)), scene.forks[fork]
            label = kind_of(message)
            if log_world.ends(scene, label, name)[1] != rank or _is_told(label, name, ahead):
                continue
            if log_world.facts(name).is_lost and label in ("Call", "Return", "RemoteCall"):
                continue
            if (after := log_world.do(scene, Deliver(message))) is not None:
                yield after


def _is_told(label: str, name: str, ahead: Ahead) -> bool:
    """Say whether an arrival is told later. A call to an owner is taken for a result here, whatever the log calls it."""
    labels = ("Call", "Return", "refuse") if label in ("Call", "Return") else (label,)
    return any((one, name) in ahead for one in labels)


def _shares(log_world: LogWorld, scene: Scene, rank: int, names: list[str]) -> Iterator[Scene]:
    """Make forks that only this worker can have made."""
    for name in names:
        facts = log_world.facts(name)
        if facts.is_creators or facts.holder is None or name in scene.forks:
            continue
        target, carrier = log_world.workers[facts.holder], log_world.carrier(name)
        for parent in _ways_to_share(log_world, scene, rank, facts.parent):
            of_owner = act.OwnerShare(X0, target, carrier)
            action = of_owner if parent is None else act.UserShare(parent, target, carrier)
            if (after := log_world.do(scene, action, name)) is not None:
                yield after


def _ways_to_share(log_world: LogWorld, scene: Scene, rank: int, parent: str | None) -> list[ForkId | None]:
    """List the forks that a worker could share from; None is the owner's way."""
    if rank == log_world.owner:
        return [None]
    held = [ForkId(number) for number, user in enumerate(scene.world.users) if user.handle is Handle.HELD]
    own = [fork for fork in held if log_world.holder(scene, scene.forks[fork]) == rank]
    return [fork for fork in own if parent in (None, scene.forks[fork])]
