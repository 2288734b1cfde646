"""Shrinking: shorter runs in smaller worlds, and nothing that was found is lost on the way."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from farref.model.actions import Deliver
from farref.model.autograd import actions as act
from farref.model.autograd import world as autograd
from farref.model.autograd.ids import PassId
from farref.model.ids import WorkerId
from farref.model.rref import world as rref
from farref.model.rref.actions import CreateLocal, CreateRemote, LetGo, OwnerLetGo, OwnerShare, UserShare
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Call, Return
from farref.properties.rref.smaller import smaller
from farref.properties.rref.visible import ModelTruth
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import Search, disagrees, shrink
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS

A, B, C = map(WorkerId, range(3))


CREATE = CreateRemote(RRefId(0), A)
RETURN = UserShare(ForkId(0), C, Return)


class Picky(ModelBackend):
    """A backend that refuses one step; and from some start on, something happens to it."""

    def __init__(self, refused: Any, starts: int = 10**9, trouble: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.refused, self.starts, self.trouble = refused, starts, trouble

    def start(self, bounds: Any) -> None:
        self.starts -= 1
        if self.starts < 0:
            self.trouble()
        super().start(bounds)

    def perform(self, action: Any) -> None:
        if action == self.refused:
            raise ZeroDivisionError(f"at {action}")
        super().perform(action)


BOUNDS = autograd.Bounds("AC AB: B>r1 C>r0 C>C", passes=3, timeouts=2)
RUN = (act.Backward(C), act.TimeOut(PassId(1)), act.Backward(A), act.Backward(B))
"""In a world without the call to C there is no C."""


def found_by(backend: Picky) -> Disagreement:
    found = disagrees(BOUNDS, backend, RUN)
    assert found is not None
    return found


def test_a_step_of_somebody_who_is_not_in_the_smaller_world_is_left_out() -> None:
    shortest = shrink(found_by(Picky(act.Backward(B))), Picky(act.Backward(B)))
    assert (shortest.bounds.graph, shortest.actions, shortest.note) == ("AB: B>r0", (act.Backward(B),), "")


def test_a_run_with_every_worker_of_its_world_is_shortened_too() -> None:
    bounds, create = rref.Bounds(workers=3, forks=3), CreateRemote(RRefId(0), A)
    share, let_go = (UserShare(ForkId(0), C, Call), LetGo(ForkId(0)))
    found = disagrees(bounds, Picky(let_go), (create, share, share, let_go))
    assert found is not None
    shortest = shrink(found, Picky(let_go))
    assert (shortest.actions, shortest.note) == ((create, let_go), "")


class Numbers(Search):
    """Looks for the numbers that matter, and counts how often it tries. A run of numbers has no world."""

    matter, tries = frozenset({0, 21, 22, 63}), 0

    def _finds_a_smaller_world(self) -> bool:
        return False

    def take_again(self, bounds: Any, actions: Any) -> Disagreement | None:
        self.tries += 1
        taken = tuple(actions)
        return Disagreement(bounds, "numbers", taken, ("wrong",)) if self.matter <= {*taken} else None


def test_what_cannot_be_left_out_is_not_tried_anew_each_time_something_else_is() -> None:
    numbers = Numbers(Disagreement(BOUNDS, "numbers", tuple(range(64)), ("wrong",)), None, float("inf"))
    numbers.run()
    assert {*numbers.shortest.actions} == numbers.matter
    assert numbers.tries < 50


class LateLiar(ModelBackend):
    """From the moment x0 is let go its application claims to hold x1 too. No step after that touches x1."""

    is_lying = False

    def start(self, bounds: Any) -> None:
        super().start(bounds)
        self.is_lying = False

    def perform(self, action: Any) -> None:
        super().perform(action)
        self.is_lying |= action == OwnerLetGo(RRefId(0))

    @property
    def truth(self) -> ModelTruth:
        application = self.world.application
        if not self.is_lying:
            return ModelTruth(self.world, self.model.bounds)
        lie = application._replace(holds=application.holds.add(1))
        return ModelTruth(self.world._replace(application=lie), self.model.bounds)


class Clingy(ModelBackend):
    """A backend in which nobody lets go of what was shared, whatever the number of the fork is."""

    def perform(self, action: Any) -> None:
        if isinstance(action, LetGo) and action.fork > 0:
            raise ZeroDivisionError(f"at {action}")
        super().perform(action)


def test_a_fork_that_does_not_matter_is_left_out_and_those_after_it_move_up() -> None:
    bounds, create, idle = rref.Bounds(workers=3, forks=3, results=True), CREATE, UserShare(ForkId(0), C, Call)
    found = disagrees(bounds, Clingy(), (create, idle, RETURN, arrives(ForkId(2)), LetGo(ForkId(2))))
    assert found is not None
    shortest = shrink(found, Clingy())
    assert shortest.actions == (create, RETURN, arrives(ForkId(1)), LetGo(ForkId(1)))


def test_a_fork_from_which_others_are_made_stays() -> None:
    bounds, again = rref.Bounds(workers=3, forks=3, results=True), UserShare(ForkId(1), C, Return)
    run = (CREATE, RETURN, arrives(ForkId(1)), again, arrives(ForkId(2)))
    assert [fewer for _, fewer in smaller(bounds, run)] == [(CREATE, RETURN, arrives(ForkId(1)))]


def arrives(fork: ForkId) -> Deliver[Return]:
    return Deliver(Return(RRefId(0), fork))


def test_what_is_seen_only_at_the_end_is_shortened() -> None:
    bounds, x0, x1 = rref.Bounds(workers=2, rrefs=2, forks=1), RRefId(0), RRefId(1)
    needed = (CreateLocal(x1), OwnerLetGo(x1), CreateLocal(x0), OwnerLetGo(x0))
    twin = Twin(bounds, LateLiar())
    twin.take((*needed[:3], OwnerShare(x0, B, Call), OwnerLetGo(x0)))
    with pytest.raises(Disagreement) as found:
        twin.finish()
    assert len(found.value.actions) > len(needed)
    shortest = shrink(found.value, LateLiar())
    assert (shortest.actions, shortest.note, [one.about for one in shortest.violated]) == (needed, "", ["RRef x1"])


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("messages_have_no_pass", 104),  # a root that is gone
        ("a_closed_context_is_forgotten_at_once", 107),  # a message to a worker that is gone
        ("a_release_does_not_ask_everybody", 110),  # a death of a worker that is gone
    ],
)
def test_what_mutants_led_to_once_is_shortened(name: str, seed: int) -> None:
    with AUTOGRAD_MUTANTS[name].alive():
        tally = campaign(SimulatedAutograd, seed=seed, seconds_max=60)
        assert tally.disagreement is not None
        shortest = shrink(tally.disagreement, SimulatedAutograd(), seconds_max=5)
    assert not shortest.note.startswith("shrinking stopped (")
    assert len(shortest.actions) <= len(tally.disagreement.actions)


def interrupt() -> None:
    raise KeyboardInterrupt


def divide() -> None:
    raise RuntimeError("out of\nworkers")


@pytest.mark.parametrize(
    ("trouble", "why"), [(interrupt, "it was interrupted"), (divide, "RuntimeError: out of workers")]
)
@pytest.mark.parametrize("starts", range(6))
def test_whatever_happens_the_shortest_run_so_far_is_given(trouble: Callable[[], None], why: str, starts: int) -> None:
    found = found_by(Picky(act.Backward(B)))
    shortest = shrink(found, Picky(act.Backward(B), starts, trouble))
    assert shortest.note == f"shrinking stopped ({why}); there may be a shorter run"
    assert shortest.lines == found.lines
    assert shortest.actions[-1] == act.Backward(B)
    assert (len(shortest.actions) < len(found.actions)) == (starts > 1), "the second attempt is the first that succeeds"


def test_without_time_nothing_is_tried_and_nothing_lost() -> None:
    found = found_by(Picky(act.Backward(B)))
    shortest = shrink(found, Picky(act.Backward(B), 0, interrupt), seconds_max=0)
    assert shortest.actions == found.actions
    assert shortest.note == "shrinking stopped after 0 s; there may be a shorter run"
    assert f"note: {shortest.note}" in str(shortest)


def test_a_note_comes_along_from_another_process() -> None:
    noted = found_by(Picky(act.Backward(B))).noted("why")
    again = pickle.loads(pickle.dumps(noted))
    assert (again.actions, again.lines, again.note) == (noted.actions, noted.lines, "why")


def test_a_backend_that_cannot_be_closed_takes_nothing_along() -> None:
    class Clinging(ModelBackend):
        def perform(self, action: Any) -> None:
            raise ZeroDivisionError(f"at {action}")

        def close(self) -> None:
            raise OSError("it does not end")

    assert campaign(Clinging, protocol="rref", seed=1, schedules_max=9).disagreement is not None
