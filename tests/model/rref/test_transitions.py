"""The tables that `owner.py` and `user.py` open with are what their handlers do: no more and no less."""

from __future__ import annotations

from types import ModuleType

import pytest

from farref.model.actions import OnMessage
from farref.model.checker.interface import Action
from farref.model.rref import owner, user
from farref.model.rref.messages import Ack
from farref.model.rref.model import RRefModel
from farref.model.rref.world import Bounds
from farref.model.tables import Event, Transitions
from tests.model.transitions import Collector, lines

WORLDS = (
    Bounds(2, forks=2, timeouts=1, fetches=1, failures=1, results=True),
    Bounds(2, forks=3, results=True, self_shares=False),
    Bounds(2, forks=3, failures=1, self_shares=False),
    Bounds(2, forks=3, owner_shares=False),
)
"""Together they have everything that can happen to an entry or to a user."""

LARGER = Bounds(
    3, rrefs=2, forks=3, drops=1, duplicates=1, timeouts=1, fetches=2, failures=1, results=True, shutdown=True
)


def event_of(action: Action, _: str) -> Event:
    if not isinstance(action, OnMessage):
        return type(action)
    return (Ack, type(action.message.of)) if isinstance(action.message, Ack) else type(action.message)


@pytest.fixture(scope="module")
def happened() -> Collector:
    """Everything that happens in the worlds."""
    collector = Collector(event_of)
    with pytest.MonkeyPatch.context() as patch:
        for module in (owner, user):
            collector.listen(patch, module)
        for bounds in WORLDS:
            collector.watch(RRefModel(bounds))
        collector.watch(RRefModel(LARGER), states_max=1_500)
    return collector


@pytest.mark.parametrize(
    ("module", "table"), [(owner, owner.TRANSITIONS), (user, user.TRANSITIONS)], ids=["owner", "user"]
)
def test_the_table_says_what_happens_and_what_it_says_happens(
    module: ModuleType, table: Transitions, happened: Collector
) -> None:
    assert lines(table) == lines(happened.table(module))
