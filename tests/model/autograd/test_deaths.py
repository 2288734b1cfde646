"""What the dead do not do (A21): each of these the twin of model and implementation has found in the model."""

from __future__ import annotations

from farref.model.autograd.messages import Fault
from farref.model.autograd.root import Phase
from farref.model.autograd.worker import Context
from tests.model.autograd.play import Play


def test_A21_the_dead_do_not_release() -> None:
    assert "ReleaseContext()" in Play("there-and-back", release=True, crashes=1).enabled()
    assert "ReleaseContext()" not in Play("there-and-back", release=True, crashes=1)("Crash(A)").enabled()


def test_A21_the_dead_give_up_no_pass() -> None:
    play = Play("there-and-back", timeouts=1, crashes=1)("Backward(A)")
    assert "TimeOut(pass 1)" in play.enabled()
    assert "TimeOut(pass 1)" not in play("Crash(A)").enabled()


def test_A21_the_dead_send_nothing_again() -> None:
    gradients = "PropagateGradients(pass 1, pair 1)"
    play = Play("there-and-back", drops=1, crashes=1)("Backward(A)", "Crash(A)", f"DropMessage({gradients})")
    assert f"Retry({gradients})" not in play.enabled()
    assert f"Deliver({gradients})" not in play.enabled()


def test_A21_the_dead_are_not_told_of_a_call_that_failed() -> None:
    play = Play("there-and-back", forward=True, failures=1, crashes=1)
    play("SendTensors(pair 0)", "Crash(A)", "FailCall(ForwardCall(pair 0))")
    assert play.worker("A").failed.is_empty()


def test_A25_who_sent_a_call_that_failed_settles_it() -> None:
    play = Play("relay", forward=True, failures=1, release=True)
    play("SendTensors(pair 0)", "Deliver(ForwardCall(pair 0))", "SendTensors(pair 1)", "ReleaseContext()")
    play("Deliver(CleanupContext(B))", "FailCall(ForwardCall(pair 1))", "Deliver(Settled(pair 1, failed))")
    play.finish()
    assert all(worker.context in (Context.GONE, Context.ABSENT) for worker in play.world.workers)


def test_A21_who_lost_the_context_with_its_creator_says_that_the_creator_died() -> None:
    gradients = "PropagateGradients(pass 1, pair 0)"
    play = Play("CB: B>r0 s0>C", crashes=1)("Crash(A)", "Notice(C, A is dead)", "Backward(B)")
    play(f"Deliver({gradients})", f"Deliver(Report({gradients}))")
    assert (play.backward().fault, play.backward().blamed) == (Fault.DIED, 0)


def test_A21_a_question_of_the_root_gets_the_same_answer() -> None:
    gradients, seek = "PropagateGradients(pass 1, pair 0)", "Seek(pass 1, C)"
    play = Play("CB CB: B>r0 s0>C s1>C", smart=True, crashes=1)("Backward(B)", f"Deliver({gradients})")
    play(f"Deliver(Report({gradients}))", "Crash(A)", "Notice(C, A is dead)", f"Deliver({seek})")
    play(f"Deliver(Report({seek}))")
    assert (play.backward().fault, play.backward().blamed) == (Fault.DIED, 0)


def test_A21_who_hears_of_a_death_by_a_farewell_waits_for_the_dead_no_longer() -> None:
    gradients = "PropagateGradients(pass 1, pair 2)"
    play = Play("AB AC CB: B>r2 s2>C", crashes=1, release=True)("Backward(B)", f"Deliver({gradients})")
    play(f"Deliver(Report({gradients}))", "ReleaseContext()", "Deliver(CleanupContext(B))", "Deliver(Closed(B))")
    assert play.backward().phase is Phase.COMMITTING
    play("Crash(C)", "Notice(A, C is dead)", "Deliver(Forget(B))")
    assert play.backward().phase is Phase.SUCCEEDED


def test_A25_a_creator_that_has_forgotten_says_farewell_once() -> None:
    play = Play("AB AC CB: B>r2 s2>C", forward=True, crashes=1, release=True)
    play("SendTensors(pair 0)", "SendTensors(pair 1)", "ReleaseContext()", "Deliver(ForwardCall(pair 1))")
    play("SendTensors(pair 2)", "Deliver(CleanupContext(B))", "Deliver(ForwardCall(pair 2))", "Deliver(Closed(B))")
    play("Deliver(ForwardCall(pair 0))", "Crash(C)", "Deliver(Settled(pair 0))", "Notice(A, C is dead)")
    play("Deliver(Forget(B))", "Deliver(Settled(pair 2))")
    assert "Deliver(Forget(B))" not in play.enabled()
