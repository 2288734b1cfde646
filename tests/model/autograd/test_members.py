"""Workers are excluded, rightly or not, and go on: passes and contexts of the others end as they should (A29)."""

from __future__ import annotations

from typing import Final

import pytest

from farref.model.autograd.messages import Fault
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.root import Phase
from farref.model.autograd.rules import OF_MEMBERS, SOUND
from farref.model.autograd.worker import Context, is_in_a_pass
from farref.model.autograd.world import Bounds
from farref.model.checker import fast, reference
from farref.model.checker.interface import Verdict
from farref.properties.autograd.always import autograd_properties
from tests.model.autograd.play import Play

AMONG_CALLS: Final = {"forward": True, "release": True}
SHORTEST: Final = {
    "only_views_declare_dead": (Bounds("CB: B>r0 s0>C", cuts=1), "S1", 4),
    "raises_when_excluded": (Bounds("chain", exclusions=1), "S1", 5),
    "sends_again_after_a_break": (Bounds("AB BC: A>A", cuts=1, **AMONG_CALLS), "L4", 6),
    "refuses_the_excluded": (Bounds("there-and-back", exclusions=1, **AMONG_CALLS), "S5", 7),
    "takes_calls_once": (Bounds("AB BC: A>A", cuts=1, **AMONG_CALLS), "S10", 9),
    "keeps_the_id_until_unheard": (Bounds("AB BC: A>A", exclusions=1, **AMONG_CALLS), "S10", 10),
}
"""For each rule a small world in which it is missed, what breaks there first, and in how many steps."""

COMMITTING: Final = (
    "Backward(A)",
    "Deliver(PropagateGradients(pass 1, pair 0))",
    "Deliver(Report(PropagateGradients(pass 1, pair 0)))",
)


def test_every_rule_about_members_has_its_world() -> None:
    assert SHORTEST.keys() == {*OF_MEMBERS}


@pytest.mark.parametrize("rule", SHORTEST)
@pytest.mark.parametrize("engine", [fast, reference], ids=["fast", "reference"])
def test_every_rule_about_members_is_needed(engine: object, rule: str) -> None:
    bounds, name, steps = SHORTEST[rule]
    found = engine.check(AutogradModel(bounds, SOUND.without(rule)), autograd_properties(bounds))  # type: ignore[attr-defined]
    assert found.counterexample is not None
    assert (found.counterexample.property.id, len(found.counterexample.actions)) == (name, steps)


@pytest.mark.parametrize("rule", SHORTEST)
def test_with_all_rules_it_holds(rule: str) -> None:
    bounds = SHORTEST[rule][0]
    assert fast.check(AutogradModel(bounds), autograd_properties(bounds)).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "bounds", [Bounds("two-branches", exclusions=2), Bounds("CB: B>r0 s0>C", cuts=1, exclusions=2)]
)
def test_it_holds_with_two_views(bounds: Bounds) -> None:
    assert fast.check(AutogradModel(bounds), autograd_properties(bounds)).verdict is Verdict.HOLDS


def test_an_excluded_worker_goes_on_where_nobody_knows_of_it() -> None:
    play = Play("chain", exclusions=1)("Exclude(B)", *COMMITTING)
    assert play.backward().phase is Phase.COMMITTING


def test_a_gradient_of_the_excluded_is_refused() -> None:
    play = Play("chain", exclusions=1)("Exclude(A)", "Install(B)", "Backward(A)", COMMITTING[1])
    assert not is_in_a_pass(play.worker("B"))


def test_a_pass_with_the_excluded_fails_where_its_root_installs_the_view() -> None:
    play = Play("chain", exclusions=1)("Backward(A)", "Exclude(B)", "Install(A)")
    assert (play.backward().phase, play.backward().fault, play.backward().blamed) == (Phase.FAILED, Fault.DIED, 1)


def test_a_pass_that_is_decided_does_not_wait_for_the_excluded() -> None:
    play = Play("chain", exclusions=1)(*COMMITTING, "Exclude(B)", "Install(A)")
    assert play.backward().phase is Phase.SUCCEEDED


def test_an_excluded_root_raises_although_its_pass_was_decided() -> None:
    play = Play("chain", exclusions=1)(
        *COMMITTING, "Exclude(A)", "Install(B)", "Deliver(Commit(pass 1, B))", "Fence(A)"
    )
    assert (play.backward().phase, play.backward().fault) == (Phase.FAILED, Fault.EXCLUDED)
    assert play.gradients == {}


def test_whoever_has_learned_it_is_silent() -> None:
    play = Play("chain", exclusions=1)("Exclude(A)", "Fence(A)")
    assert play.enabled() == ["Install(B)"]


def test_nobody_installs_the_view_that_excludes_it_nor_a_later_one() -> None:
    play = Play("two-branches", exclusions=2)("Exclude(A)", "Exclude(B)")
    assert [label for label in play.enabled() if label.startswith("Install")] == ["Install(B)", "Install(C)"]
    assert [label for label in play("Install(B)").enabled() if label.startswith("Install")] == ["Install(C)"]


def test_views_are_installed_in_their_order() -> None:
    play = Play("two-branches", exclusions=2)("Exclude(C)", "Exclude(B)", "Install(A)")
    assert [*play.worker("A").mourned.members()] == [2]
    assert [*play("Install(A)").worker("A").mourned.members()] == [1, 2]


def test_a_control_message_to_the_excluded_is_not_sent_again() -> None:
    play = Play("chain", drops=1, exclusions=1)("Backward(A)", "DropMessage(PropagateGradients(pass 1, pair 0))")
    assert "Retry(PropagateGradients(pass 1, pair 0))" in play("Exclude(B)").enabled()
    assert "Retry(PropagateGradients(pass 1, pair 0))" not in play("Install(A)").enabled()


def test_an_id_is_kept_until_the_excluded_are_unheard() -> None:
    play = Play("AB AC: A>A", exclusions=1, release=True)("Exclude(C)", "Install(A)", "ReleaseContext()")
    play("Deliver(CleanupContext(B))", "Deliver(Closed(B))", "Deliver(Forget(B))")
    assert play.worker("B").context is Context.CLOSED
    assert play("Install(B)").worker("B").context is Context.GONE


def test_a_worker_that_has_excluded_them_already_forgets_at_once() -> None:
    play = Play("AB AC: A>A", exclusions=1, release=True)("Exclude(C)", "Install(A)", "Install(B)", "ReleaseContext()")
    play("Deliver(CleanupContext(B))", "Deliver(Closed(B))", "Deliver(Forget(B))")
    assert play.worker("B").context is Context.GONE


def test_whoever_excludes_the_creator_drops_its_context() -> None:
    play = Play("chain", exclusions=1)("Exclude(A)", "Install(B)")
    assert play.worker("B").context is Context.GONE
