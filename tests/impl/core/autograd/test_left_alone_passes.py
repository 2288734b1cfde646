"""What the engine leaves alone in passes: what is over, what is of another pass, and deaths of strangers (A10 to A21)."""

from __future__ import annotations

from random import Random

import pytest

from farref.impl.core.autograd.ids import ForwardId, PassId
from farref.impl.core.autograd.messages import (
    Abort,
    Cause,
    Commit,
    Committed,
    Counted,
    Kind,
    PropagateGradients,
    Report,
)
from farref.impl.core.autograd.task import Progress, Task
from farref.impl.core.ids import FIRST_LIFE, WorkerId
from farref.impl.errors import PassRefused
from tests.impl.core.autograd.programs import settle
from tests.impl.core.autograd.test_left_alone import UNKNOWN, pass_of, running, told
from tests.impl.core.autograd.world import World
from tests.impl.core.simulation import A, B, C, under_way

# -- a worker's side of a pass -----------------------------------------------------------------------------------------


def test_A18_what_comes_of_work_for_a_pass_that_was_left_is_thrown_away() -> None:
    world = World()
    run = running(world)
    world.deliver(under_way(world, PropagateGradients, B))
    ((worker, work),) = world.working
    core = world.cores[worker]
    core.engine.take(A, Abort(run))
    assert core.engine.worked(work, Progress()) == []
    assert core.engine.raised(work, b"") == []
    core.peer_died(A, "it was killed")
    assert world.context not in core.engine.contexts
    assert core.engine.worked(work, Progress()) == []
    assert core.engine.raised(work, b"") == []


def test_A12_what_comes_of_work_for_an_older_pass_is_thrown_away() -> None:
    world = World()
    first = running(world)
    world.deliver(under_way(world, PropagateGradients, B))
    ((worker, work),) = world.working
    engine = world.cores[worker].engine
    engine.take(A, Abort(first))
    newer = PassId(first.context, first.root, first.incarnation, first.number + 1, first.smart, first.retain)
    engine.take(A, PropagateGradients(newer, work.body.forward, work.body.body))  # type: ignore[union-attr]
    world.cores[worker].taken()
    assert engine.worked(work, Progress()) == []
    assert engine.raised(work, b"") == []
    assert world.in_pass(worker)


def test_A17_a_commit_of_another_pass_shows_nothing_and_ends_nothing() -> None:
    world = World()
    run = running(world)
    world.let(PropagateGradients, B)
    assert world.in_pass(B)
    other = pass_of(run.context, A, run.number + 50)
    assert [type(one) for one in told(world.cores[B], A, Commit(other))] == [Committed]
    assert world.in_pass(B)


def test_A21_the_death_of_a_stranger_ends_no_pass() -> None:
    """C has died, and has nothing to do with it: B sends its gradient on to A all the same."""
    world = World()
    (there,) = world.sent(A, B, world.x)
    (result,) = world.sent(B, A, there * 3.0)
    world.kill(C)
    run = world.backward(A, world.context, [result])
    settle(world, Random(0))
    assert world.ended[run].fault is None
    assert world.seen(A) == {world.x: 3.0}


def test_A21_a_worker_stays_in_the_pass_of_a_root_that_lives() -> None:
    world = World()
    (there,) = world.sent(A, B, world.x)
    (result,) = world.sent(B, A, there * 3.0)
    run = world.backward(A, world.context, [result])
    world.do()
    world.deliver(under_way(world, PropagateGradients, B))
    assert world.in_pass(B)
    world.kill(C)
    assert world.in_pass(B)
    settle(world, Random(0))
    assert world.ended[run].fault is None


def test_A21_nobody_engages_in_a_pass_of_the_dead() -> None:
    """B's context, A's pass. C does not know yet that A is dead, and sends a gradient to B."""
    world = World()
    context = world.cores[B].engine.open_context()
    forward = world.call(B, C, context, [world.w[B] * 1.0])
    core = world.cores[B]
    core.peer_died(A, "it was killed")
    assert told(core, C, PropagateGradients(pass_of(context, A), forward, b"")) == []
    assert core.engine.contexts[context].task is None


# -- the root's side ---------------------------------------------------------------------------------------------------


def test_A10_a_pass_that_is_being_committed_is_still_the_one_there_is() -> None:
    world = World()
    loss = world.told(B, lambda: world.w[B] * 2.0) * world.x
    run = world.backward(A, world.context, [loss], retain=True)
    world.do()
    world.let(PropagateGradients)
    world.let(Report)
    assert not world.in_pass(A)
    assert run not in world.ended
    with pytest.raises(PassRefused, match="already"):
        world.backward(A, world.context, [loss])


def test_A19_a_report_on_a_pass_that_is_decided_is_not_answered() -> None:
    world = World()
    loss = world.told(B, lambda: world.w[B] * 2.0) * world.x
    run = world.backward(A, world.context, [loss])
    world.do()
    world.let(PropagateGradients)
    world.let(Report)
    again = Report(run, Counted(Kind.GRADIENTS, B, ForwardId(B, FIRST_LIFE, 1)), (), None, None)
    assert told(world.cores[A], B, again) == []


def test_A17_a_word_about_a_pass_that_is_over_or_not_decided_ends_nothing() -> None:
    world = World()
    run = running(world)
    assert told(world.cores[A], B, Committed(pass_of(world.context, A, 50))) == []
    world.cores[A].engine.take(B, Committed(run))
    assert world.cores[A].taken() == []
    assert run in world.cores[A].engine.passes


@pytest.mark.parametrize("lost", [B, C])
def test_A21_a_pass_fails_with_whoever_takes_part_or_was_sent_something(lost: WorkerId) -> None:
    """B has reported and has nothing to do; what C was sent is under way to it. Either may die."""
    world = World()
    run = running(world)
    world.let(PropagateGradients, B)
    world.let(Report, A)
    world.kill(lost)
    fault = world.ended[run].fault
    assert fault is not None
    assert (fault.cause, fault.worker) == (Cause.DIED, lost)


def test_A21_messages_to_the_living_are_waited_for_after_a_death() -> None:
    """Both gradients are under way when C has died, who has no part in it."""
    world = World()
    one, two = world.told(B, lambda: world.w[B] * 2.0), world.told(B, lambda: world.w[B] * 3.0)
    world.kill(C)
    run = world.backward(A, world.context, [one + two])
    world.do()
    world.let(PropagateGradients)
    world.let(Report)
    assert run not in world.ended
    settle(world, Random(0))
    assert world.ended[run].fault is None


def test_A17_a_task_that_never_walked_shows_and_frees_nothing() -> None:
    task = Task(pass_of(UNKNOWN, A), {}, {})
    seen: dict[object, object] = {}
    task.commit(seen)
    assert seen == {}
