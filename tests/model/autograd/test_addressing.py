"""What addressing says is what the steps do: a message changes the worker it goes to and no other, which then sends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from farref.model.actions import DropMessage, FailCall, OnMessage, Retry
from farref.model.autograd.addressing import ends
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.messages import Message
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.world import Bounds, World
from tests.model.reachable import steps

WORLDS = {
    "passes": Bounds("half-used", passes=2, duplicates=1, timeouts=1, failures=1, smart=True),
    "two roots": Bounds("two-starters", passes=2, timeouts=1, smart=True),
    "release": Bounds("there-and-back", failures=1, detached=1, forward=True, release=True),
    "release over three": Bounds("relay", failures=1, forward=True, release=True),
}


def changed(before: World, after: World) -> set[int]:
    """Name the workers that know something else than before: a pass is its root's, the release the creator's."""
    workers = {who for who, record in enumerate(after.workers) if record != before.workers[who]}
    roots = {record.root for old, record in zip(before.passes, after.passes, strict=True) if record != old}
    return (
        workers
        | {root for root in roots if root is not None}
        | ({CREATOR} if before.release != after.release else set())
    )


def sent(before: World, after: World, bounds: Bounds) -> Iterator[Message]:
    carried = zip(bounds.places, before.network.carried, after.network.carried, strict=True)
    return (message for message, old, new in carried if old is None and new is not None)


@pytest.mark.parametrize("bounds", WORLDS.values(), ids=WORLDS)
def test_a_message_changes_only_the_worker_it_goes_to_and_what_follows_comes_from_there(bounds: Bounds) -> None:
    for before, action, after in steps(AutogradModel(bounds), states_max=2_000):
        if isinstance(action, OnMessage) and not isinstance(action, DropMessage | Retry):
            source, target = ends(before, action.message, bounds)
            told = source if isinstance(action, FailCall) else target
            assert changed(before, after) <= {told}, action
            assert {ends(after, message, bounds)[0] for message in sent(before, after, bounds)} <= {told}, action
