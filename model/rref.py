"""The RRef protocol as a model: where it starts, everything that could ever happen, and what then follows.

Read in this order: `messages.py` (what is said), `user.py` and `owner.py` (the two machines, with the reasons), `rules.py`
(what could have been decided otherwise), `network.py` (what may go wrong), `steps.py` (how it is put together).

The model is pure: frozen values, no clock, no randomness, no I/O. A step is a function of the state, so a run is a list of
actions, and anybody can take it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import permutations

from farref.model.actions import (
    AbandonFetch,
    Action,
    CreateLocal,
    CreateOnSelf,
    CreateRemote,
    Deliver,
    DropMessage,
    Duplicate,
    EndCall,
    FailCall,
    FetchValue,
    FinishFunction,
    LetGo,
    OwnerLetGo,
    OwnerShare,
    RegisterCreator,
    Retry,
    Shutdown,
    TimeOutCreation,
    UserShare,
)
from farref.model.checker.interface import Renaming
from farref.model.ids import ForkId, RRefId, WorkerId
from farref.model.messages import (
    CONTROL,
    Ack,
    Call,
    CallFailed,
    ChildAccept,
    CreateFailed,
    FetchCall,
    FetchReturn,
    ForkRequest,
    Message,
    RemoteCall,
    RemoteFailed,
    Return,
    UserAccept,
    UserDelete,
)
from farref.model.rules import SOUND, RRefRules
from farref.model.steps import step
from farref.model.world import Bounds, World, empty_world


@dataclass(frozen=True)
class RRefModel:
    """The protocol under some rules, in a world of some size."""

    bounds: Bounds
    rules: RRefRules = SOUND

    @property
    def initial(self) -> World:
        """The world in which nothing has happened yet."""
        return empty_world(self.bounds)

    @cached_property
    def actions(self) -> Sequence[Action]:
        """Every action these bounds and rules allow to happen at some time."""
        return tuple(all_actions(self.bounds, self.rules))

    def step(self, state: World, action: Action) -> World | None:
        """Give the world after an action, or None where it cannot happen."""
        return step(state, action, self.bounds, self.rules)

    def renamings(self) -> Iterator[Renaming]:
        """The ways to rename the workers that own nothing: what they do is told by who holds a fork, and by nothing else."""
        owners = {self.bounds.owner(RRefId(rref)) for rref in range(self.bounds.rrefs)}
        others = [worker for worker in _workers(self.bounds) if worker not in owners]
        for order in permutations(others):
            if list(order) != others:
                yield Renaming(partial(_rename, dict(zip(others, order, strict=True))))


def _rename(
    names: dict[WorkerId, WorkerId], path: tuple[str | int, ...], value: object
) -> tuple[tuple[str | int, ...], object]:
    return path, names.get(value, value) if path[-1] == "holder" else value  # type: ignore[call-overload]


def all_actions(bounds: Bounds, rules: RRefRules) -> Iterator[Action]:
    """List every action that these bounds and rules allow to happen at some time."""
    for rref in map(RRefId, range(bounds.rrefs)):
        yield from _rref_actions(rref, bounds, rules)
    for fork in map(ForkId, range(bounds.forks_total)):
        yield from _fork_actions(fork, bounds, rules)
    if bounds.shutdown:
        yield Shutdown()


def _rref_actions(rref: RRefId, bounds: Bounds, rules: RRefRules) -> Iterator[Action]:
    owner = bounds.owner(rref)
    yield CreateLocal(rref)
    yield CreateOnSelf(rref)
    yield from (CreateRemote(rref, worker) for worker in _workers(bounds) if worker != owner)
    yield FinishFunction(rref)
    if not rules.registers_atomically:
        yield RegisterCreator(rref)
    yield OwnerLetGo(rref)
    for target in _workers(bounds):
        if bounds.owner_shares and (target != owner or bounds.self_shares):
            yield from (OwnerShare(rref, target, carrier) for carrier in _carriers(bounds))


def _fork_actions(fork: ForkId, bounds: Bounds, rules: RRefRules) -> Iterator[Action]:
    rref = bounds.rref_of(fork)
    yield LetGo(fork)
    if not rules.accepts_before_user_code:
        yield EndCall(fork)
    if bounds.fetches:
        yield FetchValue(fork)
    if bounds.fetches and bounds.timeouts:
        yield AbandonFetch(fork)
    if bounds.timeouts and fork == bounds.creator_fork(rref):
        yield TimeOutCreation(fork)
    if fork + 1 != bounds.creator_fork(RRefId(rref + 1)):
        for target in _workers(bounds):
            yield from (UserShare(fork, target, carrier) for carrier in _carriers(bounds))
    for message in _messages(rref, fork, bounds, rules):
        yield from _message_actions(message, bounds, rules)


def _message_actions(message: Message, bounds: Bounds, rules: RRefRules) -> Iterator[Action]:
    yield Deliver(message)
    if isinstance(message, RemoteCall | Call | Return) and bounds.failures:
        yield FailCall(message)
    if isinstance(message, (*CONTROL, Ack)):
        if bounds.duplicates:
            yield Duplicate(message)
        if bounds.drops:
            yield DropMessage(message)
    if isinstance(message, CONTROL) and bounds.drops and rules.retries_until_answered:
        yield Retry(message)


def _messages(rref: RRefId, fork: ForkId, bounds: Bounds, rules: RRefRules) -> Iterator[Message]:
    """List every message about a fork that can ever be sent."""
    kinds: list[type] = [UserDelete]
    if fork == bounds.creator_fork(rref):
        kinds += [RemoteCall, UserAccept]
        if bounds.failures:
            kinds += [RemoteFailed]
            kinds += [CreateFailed] if rules.fails_creation_as_error else []
    else:
        kinds += [ForkRequest, ChildAccept]
    kinds += _carriers(bounds)
    if bounds.fetches:
        kinds += [FetchCall, FetchReturn]
    if bounds.failures:
        kinds += [CallFailed]
    for kind in kinds:
        message = kind(rref, fork)
        yield message
        if kind in CONTROL:
            yield Ack(message)


def _workers(bounds: Bounds) -> list[WorkerId]:
    return [WorkerId(worker) for worker in range(bounds.workers)]


def _carriers(bounds: Bounds) -> list[type[Call | Return]]:
    return [Call, Return] if bounds.results else [Call]
