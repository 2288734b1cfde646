"""The tables that `root.py` and `worker.py` open with are what their handlers do: no more and no less."""

from __future__ import annotations

from types import ModuleType
from typing import Final

import pytest

from farref.model.actions import FailCall, OnMessage
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd import root, worker
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.world import Bounds
from farref.model.checker.interface import Action
from farref.model.tables import Event, Transitions
from tests.model.transitions import Collector, lines

UNUSED_AT_HOME: Final = "AA AA AA: A>r1 s1>r0 s2>r0 s0>A"
UNUSED_AWAY: Final = "BA CA CA: A>r0 A>r1 s0>B s1>C s2>C"
BYSTANDER: Final = "BA BA CA: A>r0 s0>B s1>B s2>C"
OTHER_ROOT: Final = "AC CB: B>r1 s1>r0 s0>A"
OTHER_ROOT_UNUSED: Final = "AB BC CB CB: B>r2 s2>r1 s1>r0 s0>A s3>r1"

WORLDS: Final = (
    Bounds("local"),
    Bounds("self", timeouts=1, smart=True),
    Bounds(UNUSED_AT_HOME, smart=True),
    Bounds("unused-call"),
    Bounds("unused-call", smart=True),
    Bounds("half-used", passes=2, timeouts=1, failures=1, smart=True),
    Bounds(UNUSED_AWAY, timeouts=1, failures=1, smart=True),
    Bounds(UNUSED_AWAY, smart=True, release=True),
    Bounds(BYSTANDER, smart=True, crashes=1),
    Bounds(OTHER_ROOT, crashes=1, release=True),
    Bounds(OTHER_ROOT_UNUSED, smart=True, release=True),
    Bounds(OTHER_ROOT_UNUSED, smart=True, crashes=1),
    Bounds("there-and-back", failures=1, detached=1, crashes=1, forward=True, release=True),
    Bounds("AB BC: A>A s0>A s1>r0", failures=1, crashes=1, forward=True, release=True),
    Bounds(BYSTANDER, smart=True, exclusions=1),
    Bounds(OTHER_ROOT, exclusions=1, release=True),
    Bounds("there-and-back", failures=1, detached=1, exclusions=1, forward=True, release=True),
    Bounds("AB BC: A>A s0>A s1>r0", exclusions=1, forward=True, release=True),
)
"""Together they have everything that can happen to a pass or to a context."""

LARGER: Final = (
    Bounds("relay", 3, 4, 2, 1, 1, 1, 1, smart=True, crashes=1, forward=True, release=True),
    Bounds("two-starters", passes=3, duplicates=1, timeouts=1, failures=1, crashes=1, smart=True, release=True),
)

HEARD: Final[dict[str, Event]] = {
    "begin": act.Backward,
    "on_report": msg.Report,
    "on_own_answer": msg.Told,
    "on_forget": msg.Forget,
}
"""What a handler hears, where the message that arrives is another one: what a worker tells itself has no message."""


def event_of(action: Action, handler: str) -> Event:
    is_told = isinstance(action, OnMessage) and not isinstance(action, FailCall)
    return HEARD.get(handler) or (type(action.message) if is_told else type(action))


@pytest.fixture(scope="module")
def happened() -> Collector:
    """Everything that happens in the worlds."""
    collector = Collector(event_of)
    with pytest.MonkeyPatch.context() as patch:
        collector.listen(patch, root)
        collector.listen(patch, worker, "context")
        for bounds in WORLDS:
            collector.watch(AutogradModel(bounds))
        for bounds in LARGER:
            collector.watch(AutogradModel(bounds), states_max=1_500)
    return collector


@pytest.mark.parametrize(
    ("module", "table"), [(root, root.TRANSITIONS), (worker, worker.TRANSITIONS)], ids=["root", "worker"]
)
def test_the_table_says_what_happens_and_what_it_says_happens(
    module: ModuleType, table: Transitions, happened: Collector
) -> None:
    assert lines(table) == lines(happened.table(module))
