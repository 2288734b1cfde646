"""What the runner says of checks that were not run, that fail sometimes, that hang, or that are expected to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from farref.properties.conformance.checks.random import walk
from farref.properties.conformance.kit.check import BINDS, Check
from farref.properties.conformance.kit.checked_adapter import SILENT_MAX
from farref.properties.conformance.kit.document import Level, Report, Row, Verdict
from farref.properties.conformance.kit.expectations import Expectation
from farref.properties.conformance.kit.named import hosted
from farref.properties.conformance.kit.runner import Plan, Runner
from farref.properties.conformance.kit.verdicts import ClauseText
from farref.properties.conformance.kit.world import World
from tests.properties.judging import HONEST, ZOO, having, judged


def row(report: Report, id_: str) -> Row:
    [found] = [one for one in report.clauses if one.id == id_]
    return found


def expecting(*checks: str, rate: str = "always") -> dict[str, Expectation]:
    return {one: Expectation(one, "it is known", "https://example.org", rate) for one in checks}


def made(id_: str, run: Callable[[World], None], needs: Iterable[str] = (), after: tuple[str, ...] = ()) -> Check:
    """Make a check that is not among those of the kit."""
    return Check(id_, "It must be so.", Level.MUST, BINDS, frozenset(needs), after, ("A", "B"), (), False, run)


def tried(*checks: Check, place: str = HONEST, runs: int = 1, command: tuple[str, ...] = ()) -> Report:
    texts = {one.clause: ClauseText(one.clause, "", "", Level.MUST) for one in checks}
    return Runner(Plan(command or hosted(place), lambda id_: id_, texts, checks, runs=runs)).run()


def fine(_world: World) -> None:
    """Find nothing wrong."""


def broken(world: World) -> None:
    world.call("A", "B", "echo", 1)
    world.expect(False, "it is broken")


def test_what_is_not_declared_is_skipped_and_blocks_nothing() -> None:
    report = tried(made("R1", broken, {"traced"}), made("R2", fine, after=("R1",)))
    assert row(report, "R1").verdict is Verdict.SKIPPED
    assert "traced" in row(report, "R1").message
    assert row(report, "R2").verdict is Verdict.PASS


def test_what_needs_a_clause_that_is_broken_is_blocked_and_so_is_what_needs_that() -> None:
    report = tried(
        made("R1", broken), made("R2", fine, after=("R1",)), made("R3", fine, after=("R2",)), made("R4", fine)
    )
    assert having(report, Verdict.FAIL) == {"R1"}
    assert having(report, Verdict.BLOCKED) == {"R2", "R3"}
    assert "R1" in row(report, "R2").message
    assert row(report, "R4").verdict is Verdict.PASS


def test_what_fails_by_itself_may_be_the_fault_of_another_clause() -> None:
    """Picked out of many, a check is run without those that it comes after."""
    report = tried(made("R2", broken, after=("R1",)), made("R3", fine, after=("R1",)))
    assert report.notes == ("failed, and says little without checks that were not run: R2 (R1)",)


def test_what_is_wrong_with_a_check_is_no_verdict_on_the_backend() -> None:
    def mistaken(_world: World) -> None:
        raise KeyError("nonsense")

    report = tried(made("R1", mistaken), made("R2", fine))
    assert row(report, "R1").verdict is Verdict.ERROR
    assert "the check itself" in row(report, "R1").message
    assert row(report, "R2").verdict is Verdict.PASS


def test_what_an_adapter_declared_and_cannot_do_is_no_verdict_either() -> None:
    def asks_too_much(world: World) -> None:
        world.fails(world.begin("nothing of the kind"))

    report = tried(made("R1", asks_too_much))
    assert row(report, "R1").verdict is Verdict.ERROR
    assert "declared" in row(report, "R1").message


def test_the_trouble_is_shown_where_it_was() -> None:
    def raises(world: World) -> None:
        world.call("A", "B", "echo", 1)
        world.call("A", "B", "fail", "no such luck")

    def answers_wrongly(world: World) -> None:
        slow = world.begin_call("A", "B", "slow", 0.1, 7)
        world.call("A", "B", "echo", 1)
        world.gives(slow, 8)

    def hangs(world: World) -> None:
        slow = world.begin_call("A", "B", "slow", 1.0, 7)
        world.call("A", "B", "echo", 1)
        slow.wait(0.1)

    report = tried(made("R1", raises), made("R2", answers_wrongly), made("R3", hangs), made("R4", broken))
    troubles = {one.id: [step.number for step in one.story if step.trouble] for one in report.clauses}
    assert troubles == {"R1": [2], "R2": [1], "R3": [1], "R4": [1]}
    assert row(report, "R1").story[1].outcome.startswith("fails: ")
    assert row(report, "R3").story[0].outcome.startswith("hangs: ")
    assert row(report, "R3").story[0].ended is None


def test_what_fails_sometimes_has_its_rate_and_is_never_a_pass() -> None:
    """Every second world refuses to share; a failure is followed by a new world."""
    report = judged(f"{ZOO}.wrong_answers:IsFlaky", ["R16.confirmed"], runs=3)
    assert row(report, "R16.confirmed").verdict is Verdict.FAIL
    assert row(report, "R16.confirmed").rate in ("1 of 3", "2 of 3")


def test_what_always_fails_has_its_rate_too() -> None:
    report = tried(made("R1", broken), runs=3)
    assert row(report, "R1").rate == "3 of 3"


def test_what_passes_is_run_once() -> None:
    assert row(tried(made("R1", fine), runs=3), "R1").rate is None


def test_after_a_hang_the_run_goes_on() -> None:
    report = judged(f"{ZOO}.wrong_answers:HangsOnFetch", ["R10.raises", "R12", "R13"])
    assert "hangs" in row(report, "R10.raises").message
    assert row(report, "R10.raises").seconds >= 5
    assert having(report, Verdict.PASS) == {one.id for one in report.clauses} - {"R10.raises"}


def test_what_does_not_stop_is_put_down_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farref.properties.conformance.kit.checked_adapter.STOP_SECONDS", 0.5)

    def dies(world: World) -> None:
        world.kill("B")
        world.stop(0.5)

    report = tried(made("R1", dies), made("R2", broken), made("R3", fine), place=f"{ZOO}.wrong_answers:HangsAtTheEnd")
    assert [one.verdict for one in report.clauses] == [Verdict.FAIL, Verdict.FAIL, Verdict.PASS]


def test_when_time_is_over_nothing_more_is_begun() -> None:
    report = judged(HONEST, ["R12", "R13"], seconds=0.0)
    assert {one.verdict for one in report.clauses} == {Verdict.UNTESTED}
    assert any("not begun before the run ended" in note for note in report.notes)


def test_a_clause_without_a_check_says_why() -> None:
    texts = {"R1": ClauseText("R1", "Roles", "", Level.MUST, "it says what words mean")}
    report = Runner(Plan(hosted(HONEST), lambda id_: id_, texts, ())).run()
    assert [(one.id, one.verdict, one.message) for one in report.clauses] == [
        ("R1", Verdict.UNTESTED, "it says what words mean")
    ]


def test_an_expected_failure_is_not_run_again_and_still_blocks() -> None:
    report = judged(
        f"{ZOO}.wrong_answers:SwallowsErrors",
        ["R4.raises", "R28.missing"],
        runs=3,
        expectations=expecting("R4.raises"),
    )
    found = row(report, "R4.raises")
    assert (found.verdict, found.rate, found.reason) == (Verdict.EXPECTED_FAIL, None, "it is known")
    assert row(report, "R28.missing").verdict is Verdict.BLOCKED


def test_a_pass_that_nobody_expected_is_told_as_such() -> None:
    report = judged(HONEST, ["R12"], expectations=expecting("R12"))
    assert row(report, "R12").verdict is Verdict.UNEXPECTED_PASS


def test_what_is_expected_sometimes_may_happen_or_not() -> None:
    report = judged(HONEST, ["R13"], runs=2, expectations=expecting("R13", rate="sometimes"))
    assert row(report, "R13").verdict is Verdict.EXPECTED_FAIL
    assert row(report, "R13").rate == "0 of 2"


def test_a_flaky_one_that_passes_is_no_surprise_and_its_rate_is_told() -> None:
    report = judged(HONEST, ["R13"], runs=1, expectations=expecting("R13", rate="9 of 10"))
    assert row(report, "R13").verdict is Verdict.EXPECTED_FAIL
    assert row(report, "R13").message == "it did not happen this time, and is known to happen 9 of 10 times"


def test_what_is_meant_so_is_told_as_such_and_blocks() -> None:
    known = {"R4.raises": Expectation("R4.raises", "they say so", "https://example.org", by_design=True)}
    report = judged(f"{ZOO}.wrong_answers:SwallowsErrors", ["R4.raises", "R28.missing"], expectations=known)
    assert row(report, "R4.raises").verdict is Verdict.BY_DESIGN
    assert row(report, "R28.missing").verdict is Verdict.BLOCKED


def test_where_the_adapter_raised_is_in_the_report() -> None:
    found = row(judged(f"{ZOO}.wrong_answers:IsFlaky", ["R16.confirmed"]), "R16.confirmed")
    assert found.trace is not None
    assert 'raise RuntimeError("not today")' in found.trace
    assert "host.py" not in found.trace
    assert row(judged(f"{ZOO}.odd:Dies", ["R23.misuse"]), "R23.misuse").trace is None, "nobody was left to tell"


def test_garbage_is_collected_before_counts_are_read() -> None:
    assert row(judged(f"{ZOO}.odd:Lazy", ["R26"]), "R26").verdict is Verdict.PASS
    assert row(judged(f"{ZOO}.odd:NeverCollects", ["R26"]), "R26").verdict is Verdict.FAIL


def test_a_right_value_is_no_fault_where_the_caller_owns_it() -> None:
    report = judged(f"{ZOO}.odd:KeptByItsCaller", ["R34.fetch"])
    assert row(report, "R34.fetch").verdict is Verdict.PASS
    wrong = judged(f"{ZOO}.saboteurs:Idle", ["R34.fetch"])
    assert row(wrong, "R34.fetch").verdict is Verdict.FAIL


def test_a_backend_that_starts_too_slowly_is_told_how_to_get_more_time() -> None:
    found = row(judged(f"{ZOO}.odd:NeverStarts", ["R13"], start_seconds=0.1), "R13")
    assert found.verdict is Verdict.ERROR
    assert "--start-seconds gives it more" in found.message


def test_a_backend_that_never_starts_is_given_up() -> None:
    report = judged(f"{ZOO}.odd:NeverStarts", ["R10", "R12", "R13", "R20"], start_seconds=0.1)
    tried = [one for one in report.clauses if one.verdict is Verdict.ERROR]
    waited = [one for one in tried if "gives it more" in one.message]
    assert len(waited) == SILENT_MAX < len(tried)
    assert all("3 times in a row" in one.message for one in tried if one not in waited)


def test_an_expectation_of_what_was_not_run_is_told() -> None:
    report = judged(HONEST, ["R33.traced"], expectations=expecting("R33.traced"))
    assert any("R33.traced" in note for note in report.notes)


def test_an_expectation_does_not_excuse_an_adapter() -> None:
    report = judged(f"{ZOO}.odd:Dies", ["R23.misuse"], expectations=expecting("R23.misuse"))
    assert row(report, "R23.misuse").verdict is Verdict.ERROR


def shares_nothing(world: World) -> None:
    walk(world)
    world.expect(all(one.verb != "share" for one in world.entries), "something was shared")


def test_a_run_of_random_steps_is_told_with_as_few_as_still_fail() -> None:
    [found] = [row(tried(made("R33", shares_nothing), runs=3), "R33")]
    assert found.rate == "3 of 3"
    assert [one.verb for one in found.story] == ["create", "share"]


def test_a_failure_that_is_known_is_not_made_shorter() -> None:
    texts = {"R33": ClauseText("R33", "", "", Level.MUST)}
    known = Plan(hosted(HONEST), str, texts, (made("R33", shares_nothing),), expecting("R33"))
    assert len(row(Runner(known).run(), "R33").story) > 20
