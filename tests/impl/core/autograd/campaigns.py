"""What must hold of the engine, as functions of a seed: a failure is a number. The mutants are tried on the same functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from farref.impl.core.autograd.ids import PassId
from farref.impl.core.autograd.ledger import Phase
from farref.impl.core.autograd.messages import Cause
from farref.impl.tape import Tensor
from tests.impl.core.autograd.programs import Program, begun, run_until_ended, settle, wander


def summed(*ones: dict[Tensor, float]) -> dict[Tensor, float]:
    return {leaf: sum(one.get(leaf, 0.0) for one in ones) for one in ones for leaf in one}


def is_decided(program: Program, pass_id: PassId) -> bool:
    run = program.world.cores[pass_id.root].engine.passes.get(pass_id)
    return run is None or run.phase is Phase.COMMITTING


def smart_is_right_when_it_returns(seed: int) -> None:
    """At the very moment a pass ends, the gradients are those of one process, and nobody is in it (A16, A17; S1, S11)."""
    program = Program.begun(seed)
    program.run(25)
    roots = program.roots()
    ended = run_until_ended(program, begun(program, roots), faults=seed % 3 * 6)
    assert ended.fault is None
    assert program.seen() == program.expected(roots)
    assert program.in_passes() == 0


def fast_is_right_or_names_the_sends(seed: int) -> None:
    """FAST ends well just where the theorem says so; where it fails it leaves nothing, and SMART is right (A15)."""
    program = Program.begun(seed)
    program.run(4 + seed % 9)
    roots = program.roots()
    ended = run_until_ended(program, begun(program, roots, smart=False))
    assert (ended.fault is None) == program.fast_completes(roots)
    if ended.fault is not None:
        assert ended.fault.cause is Cause.UNREACHED
        assert ended.unreached
        assert {one.function for one in ended.unreached} == {"program"}
        settle(program.world, program.random)
        assert program.seen() == {}
        assert program.in_passes() == 0
        assert run_until_ended(program, begun(program, roots)).fault is None
    assert program.seen() == program.expected(roots)


def passes_add_up(seed: int) -> None:
    """Passes add up, with calls between them; what a pass frees is not needed by one that does not use it (A23)."""
    program = Program.begun(seed)
    expected: dict[Tensor, float] = {}
    for _ in range(3):
        program.run(12)
        roots = program.roots()
        assert run_until_ended(program, begun(program, roots, smart=True)).fault is None
        expected = summed(expected, program.expected(roots))
        assert program.seen() == expected


def failed_passes_leave_nothing(seed: int) -> None:
    """A pass that timed out leaves nothing, then or later, and the next is right; a decided one stays decided (A12, A18)."""
    program = Program.begun(seed)
    program.run(25)
    world, roots = program.world, program.roots()
    first = begun(program, roots)
    wander(world, program.random, program.random.randint(0, 14))
    while seed % 4 == 0 and not is_decided(program, first):
        wander(world, program.random, 1)
    was_decided = is_decided(program, first)
    world.time_out(first)
    expected = program.expected(roots) if was_decided else {}
    if first in world.ended:
        others = [root for root in program.values if root.worker == first.root and not root.far.is_leaf][-1:]
        assert run_until_ended(program, begun(program, others)).fault is None
        expected = summed(expected, program.expected(others))
        assert program.seen() == expected
    settle(world, program.random)
    assert (world.ended[first].fault is None) == was_decided
    assert program.seen() == expected
    assert program.in_passes() == 0


def released_contexts_are_forgotten(seed: int) -> None:
    """A released context ends its passes and is forgotten by all, whatever was under way (A24, A25)."""
    program = Program.begun(seed)
    program.lateness = 0.3
    program.run(15)
    world, roots = program.world, program.roots()
    pass_id = begun(program, roots)
    wander(world, program.random, program.random.randint(0, 10))
    creator = program.context.created_on
    if program.is_open(creator):
        world.release(creator, program.context)
    settle(world, program.random, faults=6)
    assert pass_id in world.ended
    assert all(core.is_empty() for core in world.cores.values())


def deaths_leave_nobody_in_a_pass(seed: int) -> None:
    """When a worker dies, everybody comes out of its pass, and a context that is released is forgotten all the same (A21)."""
    program = Program.begun(seed)
    program.lateness = 0.1
    program.run(20)
    world, roots = program.world, program.roots()
    pass_id = begun(program, roots)
    wander(world, program.random, program.random.randint(0, 12))
    dead = program.random.choice(list(world.cores))
    world.kill(dead)
    settle(world, program.random)
    assert program.in_passes() == 0
    if dead != pass_id.root:
        ended = world.ended[pass_id]
        assert ended.fault is None or ended.fault.cause in (Cause.DIED, Cause.RELEASED)
        assert ended.fault is not None or set(program.seen().items()) <= set(program.expected(roots).items())
        assert ended.fault is None or program.seen() == {}
    if dead != program.context.created_on:
        world.release(program.context.created_on, program.context)
        settle(world, program.random)
    assert all(core.is_empty() for core in world.cores.values())


CAMPAIGNS: Final[tuple[Callable[[int], None], ...]] = (
    smart_is_right_when_it_returns,
    fast_is_right_or_names_the_sends,
    passes_add_up,
    failed_passes_leave_nothing,
    released_contexts_are_forgotten,
    deaths_leave_nobody_in_a_pass,
)
