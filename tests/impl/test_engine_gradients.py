"""The engine on the simulated network: in any order of messages, the gradients of one process (A13 to A17, A22, A23)."""

from __future__ import annotations

import pytest

from farref.impl.engine.messages import Cause
from farref.impl.tape import Tensor
from tests.impl.programs import Program, finished, settle, step

SEEDS = range(120)


def summed(*ones: dict[Tensor, float]) -> dict[Tensor, float]:
    return {leaf: sum(one.get(leaf, 0.0) for one in ones) for one in ones for leaf in one}


@pytest.mark.parametrize("faults", [0, 12])
def test_smart_gives_the_gradients_of_one_process(faults: int) -> None:
    for seed in SEEDS:
        program = Program.begun(seed)
        program.run(25)
        roots = program.roots()
        pass_id = finished(program, roots, smart=True, faults=faults)
        assert program.world.ended[pass_id].fault is None, seed
        assert program.seen() == program.expected(roots), seed


def test_fast_gives_them_too_or_names_what_is_unreached() -> None:
    well = 0
    for seed in SEEDS:
        program = Program.begun(seed)
        program.run(12)
        roots = program.roots()
        ended = program.world.ended[finished(program, roots, smart=False, retain=True)]
        if ended.fault is None:
            well += 1
            assert program.seen() == program.expected(roots), seed
        else:
            assert ended.fault.cause is Cause.UNREACHED
            assert all(one.function == "program" for one in ended.unreached)
            assert program.seen() == {}, seed
            finished(program, roots, smart=True)
            assert program.seen() == program.expected(roots), seed
    assert 0 < well < len(SEEDS)


def test_A23_passes_add_up_and_new_calls_may_come_between() -> None:
    for seed in SEEDS:
        program = Program.begun(seed)
        expected: dict[Tensor, float] = {}
        for _ in range(3):
            program.run(12)
            roots = program.roots()
            pass_id = finished(program, roots, smart=True, retain=True)
            assert program.world.ended[pass_id].fault is None, seed
            expected = summed(expected, program.expected(roots))
            assert program.seen() == expected, seed


def test_A12_A18_a_pass_that_failed_leaves_nothing_to_the_next() -> None:
    for seed in SEEDS:
        program = Program.begun(seed)
        program.run(25)
        world, roots = program.world, program.roots()
        first = world.backward(roots[0].worker, program.context, [root.far for root in roots], retain=True)
        for _ in range(program.random.randint(0, 12)):
            if world.in_flight() or world.workable():
                step(world, program.random)
        decided = first in world.ended or world.cores[first.root].engine.passes[first].phase.value == "committing"
        world.time_out(first)
        before = program.expected(roots) if decided else {}
        others = program.roots()
        if others[0].worker == roots[0].worker and first in world.ended:
            second = world.backward(others[0].worker, program.context, [root.far for root in others])
            settle(world, program.random)
            assert world.ended[second].fault is None, seed
            before = summed(before, program.expected(others))
        settle(world, program.random)
        assert (world.ended[first].fault is None) == decided, seed
        assert program.seen() == before, seed
        assert all(context.task is None for core in world.cores.values() for context in core.engine.contexts.values())


def test_A25_a_released_context_is_forgotten_in_any_order() -> None:
    for seed in SEEDS:
        program = Program.begun(seed)
        program.run(15)
        world, roots = program.world, program.roots()
        pass_id = world.backward(roots[0].worker, program.context, [root.far for root in roots])
        for _ in range(program.random.randint(0, 10)):
            if world.in_flight() or world.workable():
                step(world, program.random)
        world.release(world.cores[program.context.created_on].me, program.context)
        settle(world, program.random, faults=6)
        assert pass_id in world.ended, seed
        assert all(core.is_empty() for core in world.cores.values()), seed
