"""A link that breaks while both ends live: what is on it waits (A29).

If it is taken for a death, each end does what A21 asks of it, and nobody else is told.
"""

from __future__ import annotations

from dataclasses import replace

from farref.model.autograd.ids import PassId
from farref.model.autograd.messages import Fault
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.root import Phase
from farref.model.autograd.rules import SOUND
from farref.model.autograd.worker import Context
from farref.model.autograd.world import Bounds, pass_of
from farref.model.checker import fast
from farref.model.checker.interface import Property, Verdict
from farref.properties.autograd.always import autograd_properties
from farref.properties.autograd.sometimes import autograd_witnesses
from tests.model.autograd.play import Play

CHAIN = "CB BA: A>r1 s1>r0 s0>C"
SEVERING = SOUND.without("only_views_declare_dead")


def somebody_taken_for_dead(bounds: Bounds) -> Property:
    everything = autograd_witnesses(replace(bounds, exclusions=1))
    return next(one for one in everything if one.id == "somebody_alive_is_taken_for_dead")


def test_what_is_under_way_on_the_link_is_gone_in_both_directions() -> None:
    play = Play("there-and-back", SEVERING, cuts=1)("Backward(A)", "Cut(A, B)")
    assert not [label for label in play.enabled() if label.startswith("Deliver")]


def test_what_was_lost_before_is_not_sent_again() -> None:
    play = Play("there-and-back", SEVERING, drops=1, cuts=1)(
        "Backward(A)", "DropMessage(PropagateGradients(pass 1, pair 1))"
    )
    assert [label for label in play.enabled() if label.startswith("Retry")]
    assert not [label for label in play("Cut(A, B)").enabled() if label.startswith("Retry")]


def test_a_root_that_is_an_end_of_it_fails_its_pass() -> None:
    play = Play("there-and-back", SEVERING, cuts=1)("Backward(A)", "Cut(A, B)")
    record = pass_of(play.world, PassId(1))
    assert (record.phase, record.fault) == (Phase.FAILED, Fault.DIED)


def test_a_worker_that_loses_the_creator_drops_the_context() -> None:
    play = Play("there-and-back", SEVERING, cuts=1)("Cut(A, B)")
    assert [worker.context for worker in play.world.workers] == [Context.OPEN, Context.GONE]


def test_a_gradient_that_would_cross_it_ends_the_pass() -> None:
    """A21.7: the worker that would have to send it tells the root."""
    play = Play(CHAIN, SEVERING, cuts=1)("Backward(A)", "Cut(B, C)", "Deliver(PropagateGradients(pass 1, pair 1))")
    play("Deliver(Report(PropagateGradients(pass 1, pair 1)))")
    record = pass_of(play.world, PassId(1))
    assert (record.fault, record.blamed) == (Fault.DIED, 2)


def test_a_farewell_spreads_the_mistake() -> None:
    """A21.6: whoever is dead to the creator is dead to everybody who gets its Forget, though it lives."""
    play = Play("AB AC: A>A", SEVERING, cuts=1, release=True)(
        "Cut(A, C)", "ReleaseContext()", "Deliver(CleanupContext(B))"
    )
    play("Deliver(Closed(B))", "Deliver(Forget(B))")
    assert 2 in play.world.workers[1].mourned
    assert 1 not in play.world.workers[2].mourned
    assert play.world.dead.is_empty()


def test_a_link_breaks_once_and_not_after_a_death() -> None:
    play = Play("relay", SEVERING, cuts=2, crashes=1)("Cut(A, B)")
    assert "Cut(A, B)" not in play.enabled()
    assert "Cut(B, C)" not in play("Crash(C)").enabled()


def test_what_has_nothing_to_do_with_ends_still_holds() -> None:
    bounds = Bounds("relay", drops=1, cuts=1)
    kept = tuple(one for one in autograd_properties(bounds) if one.id in {"S4", "S5", "S8", "S9", "S10", "S11", "L6"})
    assert len(kept) == 7
    found = fast.check(AutogradModel(bounds, SEVERING), (*kept, somebody_taken_for_dead(bounds)))
    assert found.verdict is Verdict.HOLDS
    assert "somebody_alive_is_taken_for_dead" in found.witnesses


# -- by the rules ------------------------------------------------------------------------------------------------------


def test_what_is_on_a_broken_link_waits_until_it_is_mended() -> None:
    play = Play("there-and-back", cuts=1)("Backward(A)", "Cut(A, B)")
    assert play.enabled() == ["Mend(A, B)"]
    play("Mend(A, B)").finish()
    assert play.backward().phase is Phase.SUCCEEDED


def test_what_is_sent_while_a_link_is_broken_waits_too() -> None:
    play = Play("there-and-back", cuts=1)("Cut(A, B)", "Backward(A)")
    assert play.enabled() == ["Mend(A, B)"]


def test_other_links_go_on() -> None:
    play = Play("two-branches", cuts=1)("Backward(A)", "Cut(A, B)")
    assert "Deliver(PropagateGradients(pass 1, pair 1))" in play.enabled()


def test_a_message_on_a_broken_link_can_be_neither_lost_nor_copied() -> None:
    play = Play("chain", drops=1, duplicates=1, failures=1, timeouts=1, cuts=1)("Backward(A)", "Cut(A, B)")
    assert play.enabled() == ["TimeOut(pass 1)", "Mend(A, B)"]


def test_a_link_breaks_again_only_after_it_was_mended() -> None:
    play = Play("chain", cuts=2)("Cut(A, B)")
    assert "Cut(A, B)" not in play.enabled()
    assert "Cut(A, B)" in play("Mend(A, B)").enabled()
