"""What addressing says is what the steps do: a message changes the worker it goes to and no other, which then sends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from farref.model.actions import Deliver, Duplicate
from farref.model.rref.addressing import ends, holder
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Ack, Message, message_of
from farref.model.rref.model import RRefModel
from farref.model.rref.world import Bounds, World
from tests.model.reachable import steps

WORLDS = {
    "two workers": Bounds(2, forks=2, duplicates=1, timeouts=1, fetches=1, failures=1, results=True),
    "three workers": Bounds(3, forks=3, results=True, failures=1),
    "two RRefs": Bounds(2, rrefs=2, forks=2),
}


def changed(before: World, after: World, bounds: Bounds) -> set[int]:
    owners = {bounds.owner(RRefId(one)) for one in range(bounds.rrefs) if before.owners[one] != after.owners[one]}
    forks = [ForkId(one) for one in range(bounds.forks_total) if before.users[one] != after.users[one]]
    return owners | {holder(after, fork) for fork in forks}


def sent(before: World, after: World, bounds: Bounds) -> Iterator[Message]:
    for kind, (old, new) in enumerate(zip(before.network.flying, after.network.flying, strict=True)):
        for fork in set(new.members()) - set(old.members()):
            yield message_of(kind, bounds.rref_of(ForkId(fork)), ForkId(fork))


@pytest.mark.parametrize("bounds", WORLDS.values(), ids=WORLDS)
def test_a_message_changes_only_the_worker_it_goes_to_and_what_follows_comes_from_there(bounds: Bounds) -> None:
    for before, action, after in steps(RRefModel(bounds), states_max=3_000):
        if isinstance(action, Deliver | Duplicate):
            target = ends(before, action.message, bounds)[1]
            assert changed(before, after, bounds) <= {target}, action
            assert {ends(after, message, bounds)[0] for message in sent(before, after, bounds)} <= {target}, action


def test_an_answer_goes_back_to_where_the_message_came_from() -> None:
    bounds = WORLDS["three workers"]
    for before, action, _ in steps(RRefModel(bounds), states_max=2_000):
        if isinstance(action, Deliver) and isinstance(action.message, Ack):
            source, target = ends(before, action.message.of, bounds)
            assert ends(before, action.message, bounds) == (target, source)
