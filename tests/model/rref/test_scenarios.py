"""The protocol, told in short runs. Each test is named after the clause it shows; B owns, A creates, C is a third worker."""

from __future__ import annotations

import pytest

from farref.model.rref.owner import Entry
from farref.model.rref.rules import SOUND, TORCH, RRefRules
from farref.model.rref.user import Fetch, Handle, User
from farref.model.rref.world import Bounds
from tests.model.rref.play import Play

PAIR = Bounds(workers=2, forks=3)
TRIO = Bounds(workers=3, forks=3, results=True, fetches=1, timeouts=1, failures=1, drops=1, duplicates=1)


def created(bounds: Bounds = TRIO) -> Play:
    """A has created x0 on B, and knows that B counts it."""
    return Play(bounds)("CreateRemote(x0, A)", "Deliver(RemoteCall(f0))", "Deliver(UserAccept(f0))")


class TestCreation:
    def test_R10_the_creator_uses_its_rref_at_once(self) -> None:
        play = Play(TRIO)("CreateRemote(x0, A)")
        assert play.user(0).phase is User.PENDING
        assert "UserShare(f0, C, Call)" in play.enabled()

    def test_R10_the_owner_registers_on_receipt_and_the_function_still_runs(self) -> None:
        play = created()
        assert play.owner.phase is Entry.CREATED
        assert play.owner.running
        assert play.counted == [0]
        assert play.user(0).phase is User.CONFIRMED

    def test_R10_pytorch_registers_only_when_the_function_ends(self) -> None:
        play = Play(TRIO, TORCH)("CreateRemote(x0, A)", "Deliver(RemoteCall(f0))")
        assert play.owner.phase is Entry.ABSENT
        assert play.counted == []

    def test_R12_remote_to_self_needs_no_fork(self) -> None:
        play = Play(PAIR)("CreateOnSelf(x0)")
        assert play.owner.held
        assert play.counted == []
        assert play("FinishFunction(x0)", "OwnerLetGo(x0)").owner.phase is Entry.GONE

    def test_R13_a_local_rref_that_is_never_shared_sends_nothing(self) -> None:
        assert Play(PAIR)("CreateLocal(x0)", "OwnerLetGo(x0)").enabled() == []


class TestSharing:
    def test_R14_the_owner_counts_a_fork_before_it_sends_it(self) -> None:
        play = Play(PAIR)("CreateLocal(x0)", "OwnerShare(x0, A, Call)", "OwnerLetGo(x0)")
        assert play.counted == [0]
        assert play.owner.phase is Entry.READY

    def test_R15_a_fork_from_the_owner_is_confirmed(self) -> None:
        play = Play(PAIR)("CreateLocal(x0)", "OwnerShare(x0, A, Call)", "Deliver(Call(f0))")
        assert play.user(0).phase is User.CONFIRMED

    def test_R16_an_argument_waits_until_its_fork_is_confirmed(self) -> None:
        play = created()("UserShare(f0, C, Call)", "Deliver(Call(f1))")
        assert play.user(1).handle is Handle.PARKED
        assert play("Deliver(ForkRequest(f1))", "Deliver(Ack(ForkRequest(f1)))").user(1).handle is Handle.HELD

    def test_R16_a_result_does_not_wait(self) -> None:
        play = created()("UserShare(f0, C, Return)", "Deliver(Return(f1))")
        assert play.user(1).phase is User.PENDING
        assert play.user(1).handle is Handle.HELD

    def test_R18_the_child_accepts_before_its_function_runs(self) -> None:
        play = created()("UserShare(f0, C, Call)", "Deliver(Call(f1))", "Deliver(ForkRequest(f1))")
        assert "Deliver(ChildAccept(f1))" in play("Deliver(Ack(ForkRequest(f1)))").enabled()

    def test_R19_the_owner_accepts_its_own_rref_at_once(self) -> None:
        play = created()("FinishFunction(x0)", "UserShare(f0, B, Call)", "Deliver(Call(f1))")
        assert play.owner.held
        assert play.counted == [0]
        assert "Deliver(ChildAccept(f1))" in play.enabled()

    def test_R19_the_owner_shares_with_itself(self) -> None:
        play = Play(PAIR)("CreateLocal(x0)", "OwnerShare(x0, B, Call)", "OwnerLetGo(x0)")
        assert play.counted == [0]
        play("Deliver(Call(f0))")
        assert play.owner.held
        assert play.counted == []

    def test_R16_a_parked_handle_is_nobodys_to_use(self) -> None:
        play = created()("UserShare(f0, C, Call)", "Deliver(Call(f1))")
        assert not {"LetGo(f1)", "FetchValue(f1)", "UserShare(f1, A, Call)"} & set(play.enabled())

    def test_R14_the_owner_shares_only_what_it_holds(self) -> None:
        play = created()("FinishFunction(x0)")
        assert "OwnerShare(x0, C, Call)" not in play.enabled()
        play("UserShare(f0, B, Call)", "Deliver(Call(f1))")
        assert "OwnerShare(x0, C, Call)" in play.enabled()


class TestUse:
    def test_R20_a_fetch_is_parked_until_there_is_a_value(self) -> None:
        play = created()("FetchValue(f0)", "Deliver(FetchCall(f0))")
        assert list(play.owner.fetches.members()) == [0]
        assert play("FinishFunction(x0)", "Deliver(FetchReturn(f0))").user(0).fetch is Fetch.NONE

    def test_R20_a_fetch_may_arrive_before_its_creation(self) -> None:
        play = Play(TRIO)("CreateRemote(x0, A)", "FetchValue(f0)", "Deliver(FetchCall(f0))")
        play("Deliver(RemoteCall(f0))", "FinishFunction(x0)")
        assert "Deliver(FetchReturn(f0))" in play.enabled()

    def test_R20_an_abandoned_fetch_keeps_its_user_until_it_is_answered(self) -> None:
        play = created()("FetchValue(f0)", "AbandonFetch(f0)", "LetGo(f0)")
        assert play.user(0).phase is User.CONFIRMED
        play("Deliver(FetchCall(f0))", "FinishFunction(x0)", "Deliver(FetchReturn(f0))")
        assert play.user(0).phase is User.ABSENT
        assert "Deliver(UserDelete(f0))" in play.enabled()

    def test_R20_everybody_who_waits_is_answered(self) -> None:
        play = Play(Bounds(workers=3, forks=2, fetches=2))("CreateRemote(x0, A)", "UserShare(f0, C, Call)")
        play("Deliver(Call(f1))", "Deliver(ForkRequest(f1))", "Deliver(Ack(ForkRequest(f1)))")
        play("FetchValue(f0)", "FetchValue(f1)", "Deliver(FetchCall(f0))", "Deliver(FetchCall(f1))")
        play("Deliver(RemoteCall(f0))")
        assert list(play.owner.fetches.members()) == [0, 1]
        play("FinishFunction(x0)")
        assert {"Deliver(FetchReturn(f0))", "Deliver(FetchReturn(f1))"} <= set(play.enabled())

    def test_R21_a_use_while_the_function_runs_waits_too(self) -> None:
        play = created()("UserShare(f0, B, Call)", "Deliver(Call(f1))")
        assert play.owner.waiting
        assert not play("FinishFunction(x0)").owner.waiting

    def test_R21_an_early_use_waits_for_the_creation(self) -> None:
        play = Play(TRIO)("CreateRemote(x0, A)", "UserShare(f0, B, Call)", "Deliver(Call(f1))")
        assert play.owner.phase is Entry.EXPECTED
        assert play.owner.waiting
        assert "OwnerLetGo(x0)" not in play.enabled()
        assert play("Deliver(RemoteCall(f0))").owner.waiting, "the creation has arrived, the value has not"
        assert not play("FinishFunction(x0)").owner.waiting

    @pytest.mark.parametrize(
        ("rules", "phase"), [(SOUND.without("entry_waits_for_creation"), Entry.GONE), (SOUND, Entry.EXPECTED)]
    )
    def test_R21_an_empty_fork_set_does_not_remove_an_expected_entry(self, rules: RRefRules, phase: Entry) -> None:
        play = Play(PAIR, rules)("CreateRemote(x0, A)", "UserShare(f0, B, Call)", "Deliver(Call(f1))")
        assert play("OwnerShare(x0, B, Call)", "Deliver(Call(f2))").owner.phase is phase


class TestDeletion:
    def test_R22_an_entry_stays_while_its_function_runs(self) -> None:
        play = created()("LetGo(f0)", "Deliver(UserDelete(f0))")
        assert play.counted == []
        assert play.owner.phase is Entry.CREATED
        assert play("FinishFunction(x0)").owner.phase is Entry.GONE

    def test_R24_a_parent_stays_until_its_child_has_accepted(self) -> None:
        play = created()("UserShare(f0, C, Call)", "LetGo(f0)")
        assert play.user(0).phase is User.CONFIRMED
        play(
            "Deliver(Call(f1))", "Deliver(ForkRequest(f1))", "Deliver(Ack(ForkRequest(f1)))", "Deliver(ChildAccept(f1))"
        )
        assert play.user(0).phase is User.ABSENT

    def test_R25_an_unconfirmed_user_waits_before_it_is_deleted(self) -> None:
        play = Play(TRIO)("CreateRemote(x0, A)", "LetGo(f0)")
        assert play.user(0).phase is User.PENDING
        assert play("Deliver(RemoteCall(f0))", "Deliver(UserAccept(f0))").user(0).phase is User.ABSENT

    def test_R25_a_result_let_go_of_while_pending_is_deleted_once_it_is_confirmed(self) -> None:
        play = created()("UserShare(f0, C, Return)", "Deliver(Return(f1))", "LetGo(f1)", "Deliver(ForkRequest(f1))")
        assert play.user(1).phase is User.PENDING
        play("Deliver(Ack(ForkRequest(f1)))")
        assert play.user(1).phase is User.ABSENT
        assert {"Deliver(ChildAccept(f1))", "Deliver(UserDelete(f1))"} <= set(play.enabled())

    def test_R26_when_everybody_let_go_nothing_is_left(self) -> None:
        play = created()("UserShare(f0, C, Call)").finish()
        assert play.owner.phase is Entry.GONE
        assert all(user.phase is User.ABSENT for user in play.world.users)


class TestWhenThingsGoWrong:
    def test_R6_a_lost_message_is_sent_again(self) -> None:
        play = created()("LetGo(f0)", "DropMessage(UserDelete(f0))")
        assert play.counted == [0]
        assert play("Retry(UserDelete(f0))", "Deliver(UserDelete(f0))").counted == []

    def test_R6_a_lost_answer_makes_the_message_arrive_twice(self) -> None:
        play = created()("LetGo(f0)", "Deliver(UserDelete(f0))", "DropMessage(Ack(UserDelete(f0)))")
        play("Retry(UserDelete(f0))", "Deliver(UserDelete(f0))", "Deliver(Ack(UserDelete(f0)))")
        assert "Retry(UserDelete(f0))" not in play.enabled()

    @pytest.mark.parametrize(("rules", "counted"), [(SOUND, [0]), (SOUND.without("processes_once"), [0, 1])])
    def test_R7_a_late_copy_of_a_fork_request_resurrects_nothing(self, rules: RRefRules, counted: list[int]) -> None:
        play = Play(TRIO, rules)(
            "CreateRemote(x0, A)", "Deliver(RemoteCall(f0))", "Deliver(UserAccept(f0))", "UserShare(f0, C, Call)"
        )
        play("Deliver(Call(f1))", "Duplicate(ForkRequest(f1))", "Deliver(Ack(ForkRequest(f1)))", "LetGo(f1)")
        play("Deliver(UserDelete(f1))", "Deliver(Ack(UserDelete(f1)))")
        assert play.counted == [0]
        assert play("Deliver(ForkRequest(f1))").counted == counted

    def test_R27_a_timed_out_creator_stays_pending_and_refuses_use(self) -> None:
        play = Play(TRIO)("CreateRemote(x0, A)", "TimeOutCreation(f0)")
        assert play.user(0).phase is User.PENDING
        assert "UserShare(f0, C, Call)" not in play.enabled()
        assert "LetGo(f0)" in play.enabled()

    def test_R28_a_share_that_failed_is_withdrawn_by_the_owner(self) -> None:
        play = Play(TRIO)("CreateLocal(x0)", "OwnerShare(x0, A, Call)", "FailCall(Call(f0))", "Deliver(CallFailed(f0))")
        assert play.counted == []

    def test_R28_a_share_that_failed_is_withdrawn_by_a_user(self) -> None:
        play = created()("UserShare(f0, C, Call)", "LetGo(f0)", "FailCall(Call(f1))", "Deliver(CallFailed(f1))")
        assert play.user(0).phase is User.ABSENT

    def test_R29_a_creation_that_failed_is_created_as_an_error(self) -> None:
        play = Play(TRIO)(
            "CreateRemote(x0, A)", "UserShare(f0, B, Call)", "Deliver(Call(f1))", "FailCall(RemoteCall(f0))"
        )
        assert play.owner.waiting
        play("Deliver(RemoteFailed(f0))", "Deliver(CreateFailed(f0))")
        assert play.owner.phase is Entry.READY
        assert not play.owner.waiting
        assert play.counted == [0]

    def test_R29_the_creator_keeps_its_handle(self) -> None:
        play = Play(TRIO)("CreateRemote(x0, A)", "FailCall(RemoteCall(f0))", "Deliver(RemoteFailed(f0))")
        assert play.user(0).handle is Handle.HELD
        assert play("Deliver(CreateFailed(f0))", "Deliver(Ack(CreateFailed(f0)))").user(0).phase is User.CONFIRMED

    def test_R32_nothing_is_created_after_shutdown(self) -> None:
        assert Play(Bounds(workers=2, forks=1, shutdown=True))("Shutdown()").enabled() == []

    def test_R32_after_shutdown_nothing_new_is_begun(self) -> None:
        play = Play(Bounds(workers=2, forks=2, fetches=1, shutdown=True))
        play("CreateRemote(x0, A)", "Shutdown()")
        assert not {"UserShare(f0, B, Call)", "FetchValue(f0)", "CreateLocal(x0)"} & set(play.enabled())
        assert play.finish().owner.phase is Entry.GONE


class TestTwoRRefs:
    def test_each_worker_owns_one(self) -> None:
        play = Play(Bounds(workers=2, rrefs=2, forks=1))("CreateRemote(x0, A)", "CreateRemote(x1, B)")
        play(
            "Deliver(RemoteCall(f1))",
            "Deliver(UserAccept(f1))",
            "LetGo(f1)",
            "Deliver(UserDelete(f1))",
            "FinishFunction(x1)",
        )
        assert play.world.owners[1].phase is Entry.GONE
        assert play.user(0).phase is User.PENDING
