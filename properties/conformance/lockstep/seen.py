"""What a backend shows, as an observation with the names of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from farref.properties.conformance.kit.steps import (
    Looked,
    LookedEntry,
    LookedUser,
    LookedWorker,
    MessageId,
)
from farref.properties.conformance.lockstep.names import ACK, Names
from farref.properties.rref.observation import (
    EntryView,
    MessageView,
    Observation,
    UserView,
    WorkerView,
    in_order,
)
from farref.properties.traces.replay import NETWORK

FAILED = {"RemoteCall": "RemoteFailed", "Call": "CallFailed", "Return": "CallFailed"}
"""How the model calls the report on a message that has failed."""


def observation(looked: Looked, names: Names, failed: Mapping[MessageId, tuple[str, str]]) -> Observation:
    """Tell what was seen. Of what has failed the sender has not been told yet: the model has a report under way (R3)."""
    messages = sorted(looked.messages, key=lambda one: one.kind == ACK)  # what an answer is to must be known first
    flying = {
        _report(one.source, failed[one.id])
        if one.id in failed
        else _message(*names.message(one), one.source, one.target)
        for one in messages
    }
    return Observation(
        workers=tuple([_worker(worker, looked.workers[worker], names) for worker in names.workers]),
        flying=in_order(flying),
        closing=all(one.leaving for one in looked.workers.values()),
    )


def _report(source: str, named: tuple[str, str]) -> MessageView:
    kind, fork = named
    return MessageView(FAILED[kind], fork, NETWORK, source)


def _message(kind: str, fork: str, source: str, target: str) -> MessageView:
    return MessageView(kind, fork, NETWORK if kind == "CallFailed" else source, target)


def _worker(worker: str, tables: LookedWorker, names: Names) -> WorkerView:
    unanswered = [MessageView(one.kind, names.fork(one.fork), worker, one.target) for one in tables.unanswered]
    return WorkerView(
        worker=worker,
        entries=in_order([_entry(one, names) for one in tables.owned]),
        dropped=in_order([names.rref(one) for one in tables.dropped]),
        users=in_order([_user(one, names) for one in tables.users]),
        unanswered=in_order(unanswered),
    )


def _entry(seen: LookedEntry, names: Names) -> EntryView:
    return EntryView(
        rref=names.rref(seen.rref),
        value=seen.value,
        forks=_with_holders(seen.forks.items(), names),
        running=seen.running,
        held=seen.held,
        waiting=seen.waiting,
        fetches=in_order({names.fork(one) for one in seen.fetches}),
    )


def _user(seen: LookedUser, names: Names) -> UserView:
    return UserView(
        fork=names.fork(seen.fork),
        rref=names.rref(seen.rref),
        state="confirmed" if seen.confirmed else "pending",
        handle=seen.handle,
        fetch=seen.fetch,
        children=_with_holders(seen.children.items(), names),
    )


def _with_holders(forks: Iterable[tuple[str, str]], names: Names) -> tuple[tuple[str, str], ...]:
    return in_order([(names.fork(fork), holder) for fork, holder in forks])
