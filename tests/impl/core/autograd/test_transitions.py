"""The tables at the top of `rooting.py`, `engaging.py` and `contexts.py` are what their handlers do: no more and no less."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from random import Random
from typing import Any, Final

import pytest

from farref.impl.core.autograd import contexts, engaging, rooting
from farref.impl.core.autograd.contexts import Contexts
from farref.impl.core.autograd.engaging import Engaging
from farref.impl.core.autograd.ids import PassId
from farref.impl.core.autograd.ledger import Phase
from farref.impl.core.autograd.rooting import Rooting
from farref.impl.core.autograd.tables import Stage
from farref.impl.core.messages import Excluded
from farref.impl.core.transitions import Transitions
from farref.impl.errors import ContextReleased, PassRefused
from tests.impl.core.autograd.campaigns import CAMPAIGNS
from tests.impl.core.autograd.programs import Program, begun, settle, wander
from tests.impl.core.autograd.test_clauses import (
    test_A21_who_forgets_takes_no_call_of_the_dead_any_more as who_forgets_takes_no_call_of_the_dead,
)
from tests.impl.core.autograd.world import World
from tests.impl.core.simulation import A, B, C
from tests.impl.core.transitions import Keys, Seen, differences, everything

SEEDS: Final = range(20)
ROAMS: Final = (*range(400), 441, 618, 799)
"""The last ones show what is rare."""


class Roamer:
    """Passes of several roots, late calls, timeouts, rules that raise, a release and deaths, in any order.

    It checks nothing.
    """

    def __init__(self, seed: int) -> None:
        self.program = Program.begun(seed)
        self.world, self.random = self.program.world, self.program.random
        self.program.lateness = self.random.choice([0.0, 0.2, 0.5])
        self.program.run(self.random.randrange(5, 20))
        self.begun: list[PassId] = []
        steps = [self.begin, self.time_out, self.raise_, self.compute, self.release, self.kill]
        self.steps = [step for step in steps for _ in range(self.random.randrange(4))] + [self.wander] * 8

    def roam(self) -> None:
        self.begin()
        for _ in range(30):
            self.random.choice(self.steps)()
            for flight in self.world.in_flight():
                if flight.target not in self.world.cores:
                    self.world.take(flight.id)

    def wander(self) -> None:
        wander(self.world, self.random, self.random.randrange(6))

    def compute(self) -> None:
        if len(self.world.cores) == 3:
            if not all(map(self.program.is_open, self.world.cores)):
                self.program.lateness = 1.0  # a call that is refused has no tensors to go on with
            with suppress(ContextReleased):
                self.program.run(2)

    def begin(self) -> None:
        roots = [value for value in self.program.values if not value.far.is_leaf and value.worker in self.world.cores]
        with suppress(PassRefused, ContextReleased, IndexError):
            self.begun.append(begun(self.program, [self.random.choice(roots)], smart=self.random.random() < 0.8))

    def time_out(self) -> None:
        known = [one for one in self.begun if one.root in self.world.cores]
        if known and self.random.random() < 0.3:
            self.world.time_out(self.random.choice(known))

    def raise_(self) -> None:
        works = [index for index in self.world.workable() if self.world.working[index][0] in self.world.cores]
        if works:
            worker, work = self.world.working.pop(works[0])
            self.world.perform(worker, self.world.cores[worker].engine.raised(work, b""))

    def release(self) -> None:
        creator = self.program.context.created_on
        if creator in self.world.cores and self.program.is_open(creator) and self.random.random() < 0.3:
            self.world.release(creator, self.program.context)

    def kill(self) -> None:
        if len(self.world.cores) > 1 and self.random.random() < 0.2:
            self.world.kill(self.random.choice(list(self.world.cores)))


def a_stranger_is_told_to_close(dies_first: bool) -> None:
    """Nobody knows whom the dead called, so everybody is told."""
    world = World()
    world.sent(A, B, world.x)
    if not dies_first:
        world.release(A, world.context)
    world.kill(B)
    if dies_first:
        world.release(A, world.context)
    settle(world, Random(0))


def an_excluded_root_in(phase: Phase) -> None:
    """A root learns that it is excluded in some phase of its pass."""
    world = World()
    world.sent(A, B)
    world.sent(A, C)
    (used,) = world.sent(C, B, world.w[C] * 2.0)
    world.sent(C, B, world.w[C] * 3.0)
    run = world.backward(B, world.context, [used])
    while world.cores[B].engine.passes[run].phase is not phase:
        world.do()
        world.deliver(world.in_flight()[0].id)
    world.perform(B, world.cores[B].receive(A, Excluded(1, "it was lost")))
    assert run in world.ended


def first(_part: object, key: Hashable, *_rest: object) -> list[Hashable]:
    """A handler whose first argument says what it is about."""
    return [key]


def new(*_: object) -> list[Hashable]:
    """A handler that makes something new."""
    return []


ROOTING: Final[Mapping[str, Keys]] = {
    "begin": new,
    "time_out": first,
    **dict.fromkeys(("on_report", "on_committed"), lambda _, __, body: [body.pass_id]),
    "fail_pass_of": lambda part, context, _: [one for one in part._tables.passes if one.context == context],
    "on_excluded": everything,
    "on_death": everything,
}
ENGAGING: Final[Mapping[str, Keys]] = {
    **dict.fromkeys(("worked", "raised"), lambda _, work, __: [work.task.pass_id.context]),
    **dict.fromkeys(("on_counted", "on_commit", "on_abort"), lambda _, __, body: [body.pass_id.context]),
    "engage": lambda _, __, pass_id, *___: [pass_id.context],
    "leave": lambda _, pass_id: [pass_id.context],
    "leave_passes_of": everything,
}
CONTEXTS: Final[Mapping[str, Keys]] = {
    "open": new,
    **dict.fromkeys(("record_call", "call_failed", "release"), first),
    "record_arrival": lambda _, __, context, *___: [context],
    **dict.fromkeys(("on_cleanup", "on_closed", "on_settled", "on_forget"), lambda _, __, body: [body.context]),
    "on_death": everything,
}


def stages(part: Any) -> Mapping[Hashable, Stage]:
    return {context_id: context.stage for context_id, context in part._contexts.items()}


@pytest.fixture(scope="module")
def happened() -> dict[type, Seen]:
    """Everything that the parts of engines do in some runs."""
    roots = Seen(Rooting, lambda part: {one: run.phase for one, run in part._passes.items()}, Phase.OVER)
    workers, creators = Seen(Engaging, stages, Stage.ABSENT), Seen(Contexts, stages, Stage.ABSENT)
    with pytest.MonkeyPatch.context() as patch:
        roots.watch(patch, ROOTING)
        workers.watch(patch, ENGAGING)
        creators.watch(patch, CONTEXTS, ["objection"])
        for campaign in CAMPAIGNS:
            for seed in SEEDS:
                campaign(seed)
        for seed in ROAMS:
            Roamer(seed).roam()
        who_forgets_takes_no_call_of_the_dead()
        for dies_first in (False, True):
            a_stranger_is_told_to_close(dies_first)
        for phase in (Phase.RUNNING, Phase.MARKING, Phase.RESUMED, Phase.COMMITTING):
            an_excluded_root_in(phase)
    return {Rooting: roots, Engaging: workers, Contexts: creators}


@pytest.mark.parametrize(
    ("part", "table"),
    [(Rooting, rooting.TRANSITIONS), (Engaging, engaging.TRANSITIONS), (Contexts, contexts.TRANSITIONS)],
)
def test_the_table_says_what_happens_and_what_it_says_happens(
    part: type, table: Transitions, happened: dict[type, Seen]
) -> None:
    assert differences(happened[part].table, table) == []
