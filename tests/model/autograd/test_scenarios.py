"""Distributed autograd, told in short runs. Each test is named after the clause it shows; A opens the context."""

from __future__ import annotations

import pytest

from farref.model.autograd.graphs import GRAPHS, oracle
from farref.model.autograd.ids import PairId
from farref.model.autograd.messages import Fault
from farref.model.autograd.root import Phase
from farref.model.autograd.rules import SOUND, TORCH, AutogradRules
from farref.model.autograd.worker import Context, is_in_a_pass
from farref.model.ids import WorkerId
from tests.model.autograd.play import Play

A = WorkerId(0)
FAST_COMPLETES = [
    *(
        "local",
        "chain",
        "there-and-back",
        "diamond",
        "self",
        "relay",
        "two-branches",
        "two-returns",
        "unused-elsewhere",
    ),
]
NEEDS_SMART = ["unused-call", "unused-result", "ignored-argument", "half-used", "hidden-path"]


def gradient(pass_: int, pair: int) -> str:
    return f"PropagateGradients(pass {pass_}, pair {pair})"


def test_the_oracle_adds_up_all_paths() -> None:
    """By hand: B's leaf of the diamond gets 2 * 5 by one way and 3 * 7 by the other."""
    graph = GRAPHS["diamond"]
    assert oracle(graph, A, frozenset(graph.pair_ids), 10) == {1: 10 * (2 * 5 + 3 * 7)}
    assert oracle(graph, A, frozenset([PairId(1)]), 10) == {1: 10 * 3 * 7}
    assert oracle(graph, A, frozenset(), 10) == {}


class TestForward:
    def test_A7_a_detached_call_records_neither_end(self) -> None:
        play = Play("there-and-back", forward=True, detached=1)("SendDetached(pair 0)", "Deliver(ForwardCall(pair 0))")
        assert play.worker("A").sends.is_empty()
        assert play.worker("B").recvs.is_empty()
        play("SendTensors(pair 1)", "Deliver(ForwardCall(pair 1))", "Backward(A)").finish()
        assert play.gradients == {"B": 2 * 5}

    def test_A7_in_pytorch_the_receiver_decides_for_itself(self) -> None:
        play = Play("there-and-back", TORCH, forward=True, detached=1)(
            "SendDetached(pair 0)", "Deliver(ForwardCall(pair 0))"
        )
        assert list(play.worker("B").recvs.members()) == [0]
        play("SendTensors(pair 1)", "Deliver(ForwardCall(pair 1))", "Backward(A)").finish()
        assert play.backward().fault is Fault.UNPAIRED

    def test_A8_a_call_opens_the_context(self) -> None:
        play = Play("there-and-back", forward=True)("SendTensors(pair 0)")
        assert play.worker("B").context is Context.ABSENT
        assert play("Deliver(ForwardCall(pair 0))").worker("B").context is Context.OPEN

    @pytest.mark.parametrize("smart", [False, True])
    def test_A9_a_failed_call_leaves_its_send_to_smart(self, smart: bool) -> None:
        """B's result is sent twice over; here the call that failed is simply not part of what the root uses."""
        play = Play("half-used", forward=True, failures=1, smart=smart)
        play("SendTensors(pair 0)", "Deliver(ForwardCall(pair 0))", "SendTensors(pair 1)", "SendTensors(pair 2)")
        play("FailCall(ForwardCall(pair 2))", "Deliver(ForwardCall(pair 1))", "Backward(A)").finish()
        assert play.backward().fault is (Fault.NONE if smart else Fault.UNREACHED)


class TestPass:
    @pytest.mark.parametrize("smart", [False, True], ids=["fast", "smart"])
    @pytest.mark.parametrize("name", FAST_COMPLETES)
    def test_A13_the_gradient_is_that_of_one_process(self, name: str, smart: bool) -> None:
        play = Play(name, smart=smart)("Backward(A)").finish()
        assert play.backward().phase is Phase.SUCCEEDED
        graph = GRAPHS[name]
        expected = oracle(graph, A, frozenset(graph.pair_ids), 1)
        assert play.gradients == {"ABC"[worker]: value for worker, value in expected.items()}

    @pytest.mark.parametrize("name", NEEDS_SMART)
    def test_A15_fast_names_a_send_that_gets_no_gradient(self, name: str) -> None:
        play = Play(name)("Backward(A)").finish()
        assert play.backward().fault is Fault.UNREACHED
        assert play.backward().blamed is not None
        assert play.gradients == {}
        assert not any(map(is_in_a_pass, play.world.workers))

    @pytest.mark.parametrize("name", NEEDS_SMART)
    def test_A16_smart_gives_it_up(self, name: str) -> None:
        play = Play(name, smart=True)("Backward(A)").finish()
        assert play.backward().phase is Phase.SUCCEEDED
        graph = GRAPHS[name]
        expected = oracle(graph, A, frozenset(graph.pair_ids), 1)
        assert play.gradients == {"ABC"[worker]: value for worker, value in expected.items()}

    def test_A16_where_fast_suffices_smart_sends_the_same_messages(self) -> None:
        runs = [Play("relay", smart=smart)("Backward(A)") for smart in (False, True)]
        labels: list[list[str]] = [[], []]
        for play, sent in zip(runs, labels, strict=True):
            while deliveries := [label for label in play.enabled() if label.startswith("Deliver(")]:
                sent.append(deliveries[0])
                play(deliveries[0])
        assert labels[0] == labels[1]

    def test_A16_a_gradient_that_comes_late_is_waited_for(self) -> None:
        """B has one gradient and waits for another, which C cannot send as it waits in vain itself."""
        play = Play("hidden-path", smart=True)("Backward(A)").finish()
        assert play.gradients == {"B": 2 * 5 * 11 + 3 * 13}

    def test_A17_nothing_is_seen_before_the_end(self) -> None:
        play = Play("chain")("Backward(A)", f"Deliver({gradient(1, 0)})")
        assert play.gradients == {}
        assert play.worker("B").task.staged == 2 * 3
        play(f"Deliver(Report({gradient(1, 0)}))", "Deliver(Commit(pass 1, B))")
        assert play.gradients == {"B": 6}
        assert play.backward().phase is Phase.COMMITTING
        assert play("Deliver(Committed(pass 1, B))").backward().phase is Phase.SUCCEEDED

    def test_A17_passes_add_up(self) -> None:
        play = Play("chain", passes=2)("Backward(A)").finish()("Backward(A)").finish()
        assert play.gradients == {"B": 6 + 6000}

    def test_A10_no_second_pass_beside_the_first(self) -> None:
        play = Play("chain", passes=2)("Backward(A)")
        assert "Backward(A)" not in play.enabled()
        assert "Backward(A)" in play.finish().enabled()


class TestFailure:
    def test_A18_an_error_is_told_and_everyone_leaves(self) -> None:
        play = Play("two-returns", failures=1)("Backward(A)", f"Deliver({gradient(1, 1)})", f"Raise({gradient(1, 3)})")
        play(f"Deliver(Report({gradient(1, 3)}))")
        assert (play.backward().fault, play.backward().blamed) == (Fault.RAISED, 2)
        assert not any(map(is_in_a_pass, play.finish().world.workers))
        assert play.gradients == {}

    def test_A12_a_gradient_of_an_older_pass_is_ignored(self) -> None:
        play = Play("diamond", passes=2, timeouts=1)("Backward(A)", "TimeOut(pass 1)", "Backward(A)")
        play(f"Deliver({gradient(2, 0)})", f"Deliver({gradient(1, 0)})", f"Deliver({gradient(1, 1)})").finish()
        assert play.gradients == {"B": 31_000}

    def test_A12_a_newer_pass_takes_the_place_of_an_older_one(self) -> None:
        play = Play("diamond", passes=2, timeouts=1)("Backward(A)", f"Deliver({gradient(1, 0)})", "TimeOut(pass 1)")
        play("Backward(A)", f"Deliver({gradient(2, 1)})")
        assert play.worker("B").task.number == 2
        assert play.finish().gradients == {"B": 31_000}

    def test_A19_who_reports_on_a_pass_that_is_over_is_told(self) -> None:
        play = Play("diamond", timeouts=1)("Backward(A)", "TimeOut(pass 1)", f"Deliver({gradient(1, 0)})")
        assert is_in_a_pass(play.worker("B"))
        assert not is_in_a_pass(play.finish().worker("B"))

    def test_A20_a_timeout_after_the_decision_changes_nothing(self) -> None:
        play = Play("chain", timeouts=1)(
            "Backward(A)", f"Deliver({gradient(1, 0)})", f"Deliver(Report({gradient(1, 0)}))"
        )
        assert play.backward().phase is Phase.COMMITTING
        assert "TimeOut(pass 1)" not in play.enabled()

    def test_A10_a_pass_of_another_root_is_refused(self) -> None:
        play = Play("two-starters", passes=2, smart=True)("Backward(A)", "Backward(B)").finish()
        outcomes = {play.backward(number).fault for number in (1, 2)}
        assert Fault.BUSY in outcomes
        assert not any(map(is_in_a_pass, play.world.workers))

    @pytest.mark.parametrize(("rules", "seen"), [(SOUND, {"B": 6}), (TORCH, {"B": 12})], ids=["sound", "torch"])
    def test_A3_a_copy_of_a_gradient_has_no_effect(self, rules: AutogradRules, seen: dict[str, int]) -> None:
        play = Play("chain", rules, duplicates=1)(
            "Backward(A)", f"Duplicate({gradient(1, 0)})", f"Deliver({gradient(1, 0)})"
        )
        assert play.finish().gradients == seen

    def test_A3_a_lost_message_is_sent_again(self) -> None:
        play = Play("chain", drops=1)("Backward(A)", f"DropMessage({gradient(1, 0)})")
        assert play.enabled() == [f"Retry({gradient(1, 0)})"]
        assert play(f"Retry({gradient(1, 0)})").finish().gradients == {"B": 6}


class TestDeath:
    def test_A21_a_pass_fails_when_a_worker_dies_that_was_sent_something(self) -> None:
        play = Play("relay", crashes=1)("Backward(A)", f"Deliver({gradient(1, 3)})", "Crash(C)")
        play("Notice(A, C is dead)")
        assert play.backward().phase is Phase.RUNNING, "A has not heard that C takes part"
        play(f"Deliver(Report({gradient(1, 3)}))")
        assert (play.backward().fault, play.backward().blamed) == (Fault.DIED, 2)
        assert not is_in_a_pass(play.finish().worker("B"))
        assert play.gradients == {}

    def test_A21_a_pass_that_is_decided_does_not_wait_for_the_dead(self) -> None:
        play = Play("two-branches", crashes=1)(
            "Backward(A)", f"Deliver({gradient(1, 0)})", f"Deliver({gradient(1, 1)})"
        )
        play(f"Deliver(Report({gradient(1, 0)}))", f"Deliver(Report({gradient(1, 1)}))", "Deliver(Commit(pass 1, B))")
        play("Crash(C)", "Deliver(Committed(pass 1, B))")
        assert play.backward().phase is Phase.COMMITTING
        assert play("Notice(A, C is dead)").backward().phase is Phase.SUCCEEDED
        assert play.gradients == {"B": 2 * 5}

    def test_A21_a_worker_leaves_the_pass_of_a_dead_root(self) -> None:
        play = Play("two-starters", crashes=1, smart=True)("Backward(B)", "Deliver(Mark(pass 1, pair 0))", "Crash(B)")
        assert is_in_a_pass(play.worker("A"))
        assert not is_in_a_pass(play("Notice(A, B is dead)").worker("A"))

    def test_A21_a_late_message_of_a_dead_root_is_not_taken(self) -> None:
        play = Play("two-starters", crashes=1, smart=True)("Backward(B)", "Crash(B)", "Notice(A, B is dead)")
        assert not is_in_a_pass(play("Deliver(Mark(pass 1, pair 0))").worker("A"))

    def test_A21_a_context_goes_with_its_creator(self) -> None:
        play = Play("relay", crashes=1)("Crash(A)", "Notice(B, A is dead)", "Notice(C, A is dead)")
        assert {worker.context for worker in play.world.workers} == {Context.GONE}

    def test_A21_a_release_finds_whom_only_the_dead_knew(self) -> None:
        play = Play("relay", crashes=1, forward=True, release=True)
        play(
            "SendTensors(pair 0)", "Deliver(ForwardCall(pair 0))", "SendTensors(pair 1)", "Deliver(ForwardCall(pair 1))"
        )
        play("Crash(B)", "ReleaseContext()", "Notice(A, B is dead)").finish()
        assert play.worker("C").context is Context.GONE
        assert list(play.worker("C").mourned.members()) == [1], "Forget names the dead"


class TestRelease:
    def test_A24_a_release_ends_the_pass(self) -> None:
        play = Play("there-and-back", release=True)("Backward(A)", "ReleaseContext()")
        assert play.backward().fault is Fault.RELEASED
        play.finish()
        assert {worker.context for worker in play.world.workers} == {Context.GONE}
        assert not any(map(is_in_a_pass, play.world.workers))

    def test_A25_the_id_is_kept_while_a_call_is_under_way(self) -> None:
        play = Play("there-and-back", forward=True, release=True)("SendTensors(pair 0)", "ReleaseContext()")
        play("Deliver(CleanupContext(B))", "Deliver(Closed(B))")
        assert [worker.context for worker in play.world.workers] == [Context.CLOSED, Context.CLOSED]
        play("Deliver(ForwardCall(pair 0))", "Deliver(Settled(pair 0))", "Deliver(Forget(B))")
        assert [worker.context for worker in play.world.workers] == [Context.GONE, Context.GONE]

    def test_A25_workers_the_creator_does_not_know_are_found(self) -> None:
        play = Play("relay", forward=True, release=True)
        play(
            "SendTensors(pair 0)", "Deliver(ForwardCall(pair 0))", "SendTensors(pair 1)", "Deliver(ForwardCall(pair 1))"
        )
        play("ReleaseContext()").finish()
        assert {worker.context for worker in play.world.workers} == {Context.GONE}

    def test_A25_in_pytorch_a_late_call_brings_it_back(self) -> None:
        play = Play("there-and-back", TORCH, forward=True, release=True)("SendTensors(pair 0)", "ReleaseContext()")
        play("Deliver(CleanupContext(B))", "Deliver(ForwardCall(pair 0))")
        assert play.finish().worker("B").context is Context.OPEN
