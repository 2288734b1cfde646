"""The RRef protocol as a model: where it starts, everything that could ever happen, and what then follows.

Read in this order: `messages.py` (what is said), `addressing.py` (by whom, and to whom), `user.py` and `owner.py` (the two
machines, with the reasons), `rules.py` (what could have been decided otherwise), `network.py` (what may go wrong),
`steps.py` (how it is put together).

The model is pure: frozen values, no clock, no randomness, no I/O. A step is a function of the state, so a run is a list of
actions, and anybody can take it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, combinations, compress, permutations
from typing import ClassVar

from farref.model.actions import (
    Cut,
    Deliver,
    DropMessage,
    Duplicate,
    Exclude,
    FailCall,
    Install,
    Mend,
    OnMessage,
    Retry,
)
from farref.model.checker.interface import Renaming
from farref.model.ids import WorkerId
from farref.model.protocol_model import ProtocolModel
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.rules import SOUND, RRefRules
from farref.model.rref.steps import step
from farref.model.rref.world import Bounds, World, empty_world


def all_actions(bounds: Bounds, rules: RRefRules) -> Iterator[act.Action]:
    """List every action that these bounds and rules allow to happen at some time."""
    for rref in map(RRefId, range(bounds.rrefs)):
        yield from _rref_actions(rref, bounds, rules)
    for fork in map(ForkId, range(bounds.forks_total)):
        yield from _fork_actions(fork, bounds, rules)
    if bounds.shutdown:
        yield act.Shutdown()
    if bounds.cuts:
        yield from (Cut(*two) for two in combinations(bounds.worker_ids, 2))
    if bounds.cuts and rules.only_views_declare_dead:
        yield from (Mend(*two) for two in combinations(bounds.worker_ids, 2))
    if bounds.exclusions:
        yield from _view_actions(bounds)


def _view_actions(bounds: Bounds) -> Iterator[act.Action]:
    for worker in bounds.worker_ids:
        if bounds.lost_owners or worker not in bounds.owning:
            yield Exclude(worker)
        yield Install(worker)
        yield from (act.Settle(worker, view) for view in range(1, bounds.exclusions + 1))
        yield act.Reclaim(worker)
    yield from (act.Bury(view) for view in range(1, bounds.exclusions + 1))
    yield from map(act.Join, bounds.latecomers)


def _rref_actions(rref: RRefId, bounds: Bounds, rules: RRefRules) -> Iterator[act.Action]:
    owner = bounds.owner(rref)
    yield act.CreateLocal(rref)
    yield act.CreateOnSelf(rref)
    yield from (act.CreateRemote(rref, worker) for worker in bounds.worker_ids if worker != owner)
    yield act.FinishFunction(rref)
    if not rules.registers_atomically:
        yield act.RegisterCreator(rref)
    yield act.OwnerLetGo(rref)
    for target in bounds.worker_ids:
        if bounds.owner_shares and (target != owner or bounds.self_shares):
            yield from (act.OwnerShare(rref, target, carrier) for carrier in _carriers(bounds))


def _fork_actions(fork: ForkId, bounds: Bounds, rules: RRefRules) -> Iterator[act.Action]:
    rref = bounds.rref_of(fork)
    yield act.LetGo(fork)
    if not rules.accepts_before_user_code:
        yield act.EndCall(fork)
    if bounds.fetches:
        yield act.FetchValue(fork)
    if bounds.fetches and bounds.timeouts:
        yield act.AbandonFetch(fork)
    if bounds.timeouts and fork == bounds.creator_fork(rref):
        yield act.TimeOutCreation(fork)
    if fork + 1 != bounds.creator_fork(RRefId(rref + 1)):
        for target in bounds.worker_ids:
            yield from (act.UserShare(fork, target, carrier) for carrier in _carriers(bounds))
    for message in _messages(rref, fork, bounds, rules):
        yield from _message_actions(message, bounds, rules)


def _message_actions(message: msg.Message, bounds: Bounds, rules: RRefRules) -> Iterator[act.Action]:
    yield Deliver(message)
    if isinstance(message, msg.RemoteCall | msg.Call | msg.Return) and bounds.failures:
        yield FailCall(message)
    if isinstance(message, (*msg.CONTROL, msg.Ack)):
        if bounds.duplicates:
            yield Duplicate(message)
        if bounds.drops:
            yield DropMessage(message)
    if isinstance(message, msg.CONTROL) and bounds.drops and rules.retries_until_answered:
        yield Retry(message)


def _messages(rref: RRefId, fork: ForkId, bounds: Bounds, rules: RRefRules) -> Iterator[msg.Message]:
    """List every message about a fork that can ever be sent."""
    kinds: list[type] = [msg.UserDelete]
    if fork == bounds.creator_fork(rref):
        kinds += [msg.RemoteCall, msg.UserAccept]
        if bounds.failures:
            kinds += [msg.RemoteFailed]
            kinds += [msg.CreateFailed] if rules.fails_creation_as_error else []
    else:
        kinds += [msg.ForkRequest, msg.ChildAccept]
    kinds += _carriers(bounds)
    if bounds.fetches:
        kinds += [msg.FetchCall, msg.FetchReturn]
    is_refused = bounds.lost_owners or (bounds.cuts and not rules.only_views_declare_dead)
    if bounds.failures or is_refused:
        kinds += [msg.CallFailed]
    for kind in kinds:
        message = kind(rref, fork)
        yield message
        if kind in msg.CONTROL:
            yield msg.Ack(message)


def _carriers(bounds: Bounds) -> list[type[msg.Call | msg.Return]]:
    return [msg.Call, msg.Return] if bounds.results else [msg.Call]


@dataclass(frozen=True)
class RRefModel(ProtocolModel[Bounds, RRefRules, World, act.Action]):
    """The RRef protocol under some rules, in a world of some size."""

    rules: RRefRules = SOUND

    empty_world: ClassVar = staticmethod(empty_world)
    all_actions: ClassVar = staticmethod(all_actions)
    take: ClassVar = staticmethod(step)

    def candidates(self, state: World) -> list[int]:
        """List the places of the actions that may be possible: one on a message needs it under way, or unanswered."""
        flags = chain.from_iterable((*state.network.flying, *state.network.unanswered))
        return sorted(chain(self._on_no_message, *compress(self._on_messages, flags)))

    @cached_property
    def _on_no_message(self) -> list[int]:
        return [place for place, action in enumerate(self.actions) if not isinstance(action, OnMessage)]

    @cached_property
    def _on_messages(self) -> list[list[int]]:
        """For each flag of the network, in its order, the places of the actions that need it."""
        forks = self.bounds.forks_total
        found: list[list[int]] = [[] for _ in range((msg.KINDS_COUNT + len(msg.CONTROL)) * forks)]
        for place, action in enumerate(self.actions):
            if isinstance(action, OnMessage):
                kind = msg.kind_number(action.message) + (msg.KINDS_COUNT if isinstance(action, Retry) else 0)
                found[kind * forks + action.message.fork].append(place)
        return found

    def renamings(self) -> Iterator[Renaming]:
        """The ways to rename the workers that own nothing: what they do is told by who holds a fork, and by nothing else."""
        taken = {*self.bounds.owning, *self.bounds.latecomers}
        others = [worker for worker in self.bounds.worker_ids if worker not in taken]
        for order in permutations(others):
            if list(order) != others:
                yield Renaming(partial(_rename, dict(zip(others, order, strict=True))))


def _rename(
    names: dict[WorkerId, WorkerId], path: tuple[str | int, ...], value: object
) -> tuple[tuple[str | int, ...], object]:
    if path[0] in ("apart", "mourned"):
        return (path[0], *(names.get(WorkerId(int(who)), who) for who in path[1:])), value
    if path[0] == "views" and len(path) == 3:
        return (*path[:2], names.get(WorkerId(int(path[2])), path[2])), value
    return path, names.get(value, value) if path[-1] == "holder" else value  # type: ignore[call-overload]
