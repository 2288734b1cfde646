"""What the invariant says of tables at rest: where nothing is under way, whatever the application holds and computes.

Each sentence speaks of tables only, so it can be looked up in the tables of an implementation, which remembers no history
(`link/rest.py`). Each is proved to follow from the invariant, as a part of the theorem of liveness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from farref.properties.proof.induction.theory import Lemma
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    all_of,
    every,
    iff,
    implies,
    none_of,
    same,
    some,
)
from farref.properties.proof.rref.safety import RREFS
from farref.properties.proof.rref.state import CONTROL, FORK, RREF, State, rref_of

CALLS: Final = (
    "remote_call", "user_accept", "remote_failed", "call", "result", "call_failed",
    "fetch_call", "fetch_return", "fetch_failed",
)  # fmt: skip


def at_rest(s: State) -> Formula:
    """Say that no message is under way, and nobody waits for an answer."""

    def moves(f: Term) -> Formula:
        controls = (said(f) for one in map(s.control, CONTROL) for said in (one.flying, one.unanswered, one.answering))
        return ~none_of(*(getattr(s, name)(f) for name in CALLS), *controls)

    return ~some(FORK, moves)


def _users(s: State, f: Term) -> Formula:
    in_use = (s.handle(f) | s.fetches(f)) & ~s.parked(f)
    return implies(s.live(f), s.confirmed(f) & in_use)


def _fetches(s: State, f: Term) -> Formula:
    return iff(s.fetches(f), s.fetch_parked(f)) & implies(s.fetch_parked(f), ~s.ready(rref_of(f)))


def _entries(s: State, r: Term) -> Formula:
    counted = some(FORK, lambda f: same(rref_of(f), r) & s.counted(f))
    used = implies(s.listed(r), s.used(r) | counted)
    return all_of(~s.expected(r), iff(s.running(r), s.created(r)), implies(s.owner_waits(r), s.created(r)), used)


RESTING: Final[dict[str, tuple[str, Callable[[State], Formula]]]] = {
    "rest counts": (
        "The owner counts a fork exactly if its user lives.",
        lambda s: every(FORK, lambda f: iff(s.counted(f), s.live(f))),
    ),
    "rest users": (
        "A user is confirmed, and kept for a handle or a fetch.",
        lambda s: every(FORK, lambda f: _users(s, f)),
    ),
    "rest children": ("No parent lists a child.", lambda s: every(FORK, lambda f: ~s.kept(f))),
    "rest fetches": (
        "A fetch is parked at the owner until there is a value.",
        lambda s: every(FORK, lambda f: _fetches(s, f)),
    ),
    "rest values": (
        "A user's RRef is listed at its owner.",
        lambda s: every(FORK, lambda f: implies(s.live(f), s.listed(rref_of(f)))),
    ),
    "rest entries": (
        "An entry is created, and kept for a use on the owner or for a fork.",
        lambda s: every(RREF, lambda r: _entries(s, r)),
    ),
}
"""What is claimed of every state at rest."""


def resting() -> Iterator[Lemma]:
    """Claim it of the invariant."""
    s = RREFS.state
    for name, (text, holds) in RESTING.items():
        yield Lemma(name, "at rest", holds(s), (at_rest(s),), text)
