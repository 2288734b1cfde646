"""The programs on which PyTorch waits for ever or times out, in many orders of messages: SMART is right, FAST says why not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from farref.impl.core.autograd.messages import Cause
from farref.impl.tape import Tensor
from tests.impl.core.autograd.programs import settle
from tests.impl.core.autograd.world import World
from tests.impl.core.simulation import A, B, C

ORDERS = range(40)


def unused_call(world: World) -> Tensor:
    world.asked(B, lambda there: there * 2.0)
    return world.x * world.x


def unused_result(world: World) -> Tensor:
    world.told(B, lambda: world.w[B] * 5.0)
    return world.told(B, lambda: world.w[B] * 2.0) * 2.0


def ignored_argument(world: World) -> Tensor:
    return world.asked(B, lambda _there: world.w[B] * 1.0) * world.x


def failed_call(world: World) -> Tensor:
    world.call(A, B, world.context, [world.x])
    world.fail(world.in_flight()[-1].id)
    return world.asked(B, lambda there: there * world.w[B])


def unused_call_with_arguments(world: World) -> Tensor:
    world.asked(B, lambda there: there * world.w[B])
    return world.asked(B, lambda there: there * world.w[B])


def unused_fetch(world: World) -> Tensor:
    (there,) = world.sent(A, B, world.x)
    value = there * world.w[B]
    world.sent(B, A, value)
    return world.sent(B, A, value)[0]


def unused_elsewhere(world: World) -> Tensor:
    world.told(C, lambda: world.w[C] * 5.0)
    return world.told(B, lambda: world.w[B] * 2.0) * world.x


def used_times_zero(world: World) -> Tensor:
    one, other = (world.asked(B, lambda there: there * world.w[B]) for _ in range(2))
    return one + other * 0.0


EXPERIMENTS: dict[Callable[[World], Tensor], tuple[float | None, float | None, bool]] = {
    # The gradients of x and of w on B, and whether FAST is enough.
    unused_call: (4.0, None, False),
    unused_result: (None, 4.0, False),
    ignored_argument: (3.0, 2.0, False),
    failed_call: (3.0, 2.0, False),
    unused_call_with_arguments: (3.0, 2.0, False),
    unused_fetch: (3.0, 2.0, False),
    unused_elsewhere: (6.0, 4.0, True),
    used_times_zero: (3.0, 2.0, True),
}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_experiments_in_many_orders(experiment: Callable[[World], Tensor]) -> None:
    here, there, is_fast_enough = EXPERIMENTS[experiment]
    for seed in ORDERS:
        world = World()
        loss = experiment(world) * 1.0
        fast = world.backward(A, world.context, [loss], smart=False, retain=True)
        settle(world, Random(seed), faults=4)
        fault = world.ended[fast].fault
        assert (fault is None) == is_fast_enough
        if fault is not None:
            assert fault.cause is Cause.UNREACHED
            assert world.seen(A) == world.seen(B) == {}
            smart = world.backward(A, world.context, [loss], retain=True)
            settle(world, Random(seed), faults=4)
            assert world.ended[smart].fault is None
        assert world.seen(A).get(world.x) == here
        assert world.seen(B).get(world.w[B]) == there
