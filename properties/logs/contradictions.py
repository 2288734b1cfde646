"""What a log says of one thing in two ways: who owns an RRef, who made, holds and may use a fork, which fetch was asked for.

No order of events helps there, and nothing that is not logged, so this is looked at before anything is explained. One of the
two is false. The worker that makes an RRef or a fork knows best, so it is believed (`by_rref.py`), and the other is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from farref.properties.logs.by_rref import RRefLog, authority, holder_of, names_parent, owner_of
from farref.properties.logs.format import Event, Log

CREATIONS: Final = frozenset({"create local", "create on self", "create remote"})

FETCHING: Final = frozenset({"fetch", "FetchCall", "FetchReturn"})

Contradiction = tuple[Event, str]
"""An event, and what speaks against it."""


def contradictions(rref_log: RRefLog) -> Iterator[Contradiction]:
    """Find the events about one RRef that contradict another."""
    for event in rref_log.told:
        objection = _objection(rref_log, event)
        if objection is not None:
            yield event, objection
    yield from _fetches(rref_log)


def forks_of_two(log: Log) -> Iterator[Contradiction]:
    """Find the events that give a fork to a second RRef (R2)."""
    homes: dict[str, str | None] = {}
    events = sorted(_judged(log), key=authority)
    for event in events:
        if event.fork is not None and homes.setdefault(event.fork, event.rref) != event.rref:
            yield event, f"fork {event.fork} is one of RRef {homes[event.fork]} (R2)"
    for event in events:
        if event.parent is not None and homes.get(event.parent, event.rref) != event.rref:
            yield event, f"fork {event.parent}, its parent, is one of RRef {homes[event.parent]} (R2)"


def _judged(log: Log) -> Iterable[Event]:
    for worker in log.workers.values():
        until = worker.judged_until
        yield from (event for event in worker.events if event.number <= until)


def _objection(rref_log: RRefLog, event: Event) -> str | None:
    owner = owner_of(event)
    if owner not in (None, rref_log.owner):
        return f"the RRef is worker {rref_log.owner}'s, not worker {owner}'s (R1)"
    if event.event in CREATIONS and event.worker != rref_log.creator:
        return f"whoever creates an RRef mints its id, and worker {rref_log.creator} minted this (R2)"
    return None if event.fork is None else _objection_to_fork(rref_log, event, event.fork)


def _objection_to_fork(rref_log: RRefLog, event: Event, fork: str) -> str | None:
    facts, holder = rref_log.forks[fork], holder_of(event)
    maker = event.source if event.event in ("receive", "refuse") else event.worker
    is_made = event.event in ("create remote", "share", "withdraw") or names_parent(event)
    if is_made and maker != facts.minter:
        return f"worker {facts.minter} made fork {fork}, not worker {maker} (R2)"
    if holder not in (None, facts.holder):
        return f"fork {fork} is meant for worker {facts.holder}, not for worker {holder} (R1)"
    if names_parent(event) and event.parent != facts.parent:
        return f"fork {fork} was made {_from(facts.parent)}, not {_from(event.parent)} (R2)"
    return None


def _from(parent: str | None) -> str:
    return "by the owner" if parent is None else f"from fork {parent}"


def _fetches(rref_log: RRefLog) -> Iterator[Contradiction]:
    """Find fetches that arrive unasked, answers to what never arrived, and each of these the second time (R3, R20)."""
    asked, called = set(_fetches_of(rref_log, "fetch")), set(_fetches_of(rref_log, "FetchCall"))
    seen: set[tuple[str, str | None, int | None]] = set()
    for event in rref_log.told:
        what, fetch = _step(event), (event.fork, event.fetch)
        if what not in FETCHING:
            continue
        holder = rref_log.forks[event.fork or ""].holder
        if (what, *fetch) in seen:
            yield event, "it has happened already, and happens once (R3)"
        elif what != "fetch" and fetch not in asked and not _is_silent(rref_log, holder):
            yield event, f"fetch {event.fetch} of this fork was not asked for (R20)"
        elif what == "FetchReturn" and fetch not in called and not _is_silent(rref_log, rref_log.owner):
            yield event, f"fetch {event.fetch} of this fork did not reach the owner (R20)"
        seen.add((what, *fetch))


def _fetches_of(rref_log: RRefLog, step: str) -> Iterator[tuple[str | None, int | None]]:
    return ((event.fork, event.fetch) for event in rref_log.told if _step(event) == step)


def _step(event: Event) -> str:
    return event.message or "" if event.event == "receive" else event.event


def _is_silent(rref_log: RRefLog, rank: int | None) -> bool:
    return rank is None or bool(rref_log.by_worker[rank].loose)
