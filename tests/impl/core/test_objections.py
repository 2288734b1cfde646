"""R28, R34: what is wrong with the forks of a message is seen before any of them takes effect, one reason at a time."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from farref.impl.core.ids import FIRST_LIFE, ForkId, WorkerId
from farref.impl.core.messages import Call, CallFailed
from farref.impl.simulated.network import Simulation
from tests.impl.core.simulation import A, B, C, kinds, under_way

NOBODY = WorkerId(9)
WRONG: dict[str, dict[str, Any]] = {
    "it is for somebody else": {"holder": B},
    "somebody else made it": {"fork": ForkId(B, FIRST_LIFE, 5)},
    "its owner is nobody": {"owner": NOBODY},
    "its owner made it, it says, and somebody else is its parent": {"owner": A},
    "its maker is not its owner, and it has no parent": {"parent": None},
}


@pytest.fixture
def world() -> Simulation:
    return Simulation(3)


def handed(world: Simulation, **changes: Any) -> list[str]:
    """Let C be handed a reference that A holds and B owns, changed on its way; give why C refuses it, if it does."""
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    call = world.take(under_way(world, Call)).message
    assert isinstance(call, Call)
    (data,) = call.forks
    wrong = msgspec.structs.replace(call, forks=(msgspec.structs.replace(data, **changes),))
    world.perform(C, world.cores[C].receive(A, wrong))
    return [flight.message.reason for flight in world.in_flight() if isinstance(flight.message, CallFailed)]


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_R34_a_fork_that_cannot_be_is_refused(world: Simulation, changes: dict[str, Any]) -> None:
    (reason,) = handed(world, **changes)
    assert "was not made by" in reason or "has a parent exactly if" in reason
    assert world.observe()[C].users == ()


def test_R34_a_fork_whose_owner_is_dead_is_refused(world: Simulation) -> None:
    world.cores[C].peer_died(B, "it was killed")
    (reason,) = handed(world)
    assert "is dead" in reason
    assert world.observe()[C].users == ()


def test_R28_a_fork_that_is_held_already_is_refused(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    call = world.take(under_way(world, Call)).message
    world.perform(C, world.cores[C].receive(A, call))
    before = world.observe()[C].users
    world.perform(C, world.cores[C].receive(A, call))
    assert CallFailed in kinds(world)
    assert world.observe()[C].users == before


def test_R34_a_fork_with_nothing_wrong_is_taken_on(world: Simulation) -> None:
    assert handed(world) == []
    assert len(world.observe()[C].users) == 1


def test_R34_a_worker_that_holds_as_many_as_it_may_refuses_more(world: Simulation) -> None:
    world.cores[C].here.references_max = 0
    (reason,) = handed(world)
    assert "references_max" in reason


def test_R2_a_fork_of_a_life_that_has_begun_is_taken_on(world: Simulation) -> None:
    world.cores[C].here.lives.update({A: FIRST_LIFE, B: FIRST_LIFE})
    assert handed(world) == []
    assert len(world.observe()[C].users) == 1
