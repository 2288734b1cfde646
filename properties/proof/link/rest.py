"""What the proof says of tables at rest, looked up in the tables of an implementation.

Any tables will do that have the fields of `get_debug_info()`: nothing is imported from an implementation here. All workers have
to be at rest: no message is under way, and no answer is waited for. References that died with their worker are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from farref.properties.proof.logic.small import Check, Fact, Small, Thing, compiled
from farref.properties.proof.rref.rest import RESTING
from farref.properties.proof.rref.safety import RREFS

Tables = Any
"""All tables of one worker."""


def broken_at_rest(workers: Iterable[Tables]) -> list[str]:
    """List what does not hold of the tables of all workers, which are at rest."""
    tables = list(workers)
    assert not any(one.unanswered for one in tables), "somebody waits for an answer"
    state = state_of(tables)
    return [RESTING[name][0] for name, holds in _checks().items() if not holds(state)]


@cache
def _checks() -> dict[str, Check]:
    return {name: compiled(holds(RREFS.state)) for name, (_, holds) in RESTING.items()}


def state_of(tables: list[Tables]) -> Small:
    """Give the state of the proof that these tables are, as far as tables go."""
    facts = set(_facts(tables))
    forks = {fact[1]: None for fact in sorted(facts, key=str) if str(fact[1]).startswith("fork ")}
    belongs = dict(_belongs(tables))
    rrefs: dict[Thing, None] = {belongs[fork]: None for fork in forks}
    rrefs |= {fact[1]: None for fact in sorted(facts, key=str) if fact[1] not in forks}
    things = {"Fork": tuple(forks), "RRef": tuple(rrefs)}
    return Small(things, frozenset(facts), {("rref_of", fork): belongs[fork] for fork in forks})


def _fork(fork: Any) -> str:
    return f"fork {fork}"


def _rref(rref: Any) -> str:
    return f"RRef {rref}"


def _belongs(tables: list[Tables]) -> Iterator[tuple[Thing, Thing]]:
    """Say to which RRef each fork belongs."""
    for table in tables:
        for entry in table.entries:
            for fork in (*(one for one, _ in entry.forks), *(one.fork for one in entry.fetches)):
                yield _fork(fork), _rref(entry.rref)
        for user in table.users:
            for fork in (user.fork, *(one for one, _ in user.children)):
                yield _fork(fork), _rref(user.rref)


def _facts(tables: list[Tables]) -> Iterator[Fact]:
    for table in tables:
        parked = {fork for call in table.parked_calls for fork in call.waiting_for}
        for entry in table.entries:
            yield from _entry(entry)
        for user in table.users:
            if not user.orphaned:
                yield from _user(user, user.fork in parked)


def _entry(entry: Any) -> Iterator[Fact]:
    said = {
        str(entry.phase).lower(): True,
        "running": entry.running,
        "owner_holds": entry.held > 0,
        "owner_waits": entry.waiting > 0,
    }
    yield from ((name, _rref(entry.rref)) for name, holds in said.items() if holds)
    yield from (("counted", _fork(fork)) for fork, _ in entry.forks)
    yield from (("fetch_parked", _fork(parked.fork)) for parked in entry.fetches)


def _user(user: Any, is_parked: bool) -> Iterator[Fact]:
    handle = "parked" if is_parked else "timed_out" if user.timed_out else "held"
    said = {
        "confirmed" if user.confirmed else "pending": True,
        handle: user.handles > 0 or is_parked,
        "asking": user.fetches_waiting > 0,
        "given_up": user.fetches_abandoned > 0 and not user.fetches_waiting,
    }
    yield from ((name, _fork(user.fork)) for name, holds in said.items() if holds)
    yield from (("kept", _fork(child)) for child, _ in user.children)
