"""What a newcomer tripped over: sentences that were not true, exit codes that meant nothing, options that did nothing."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from farref.checking.tables import Listing
from farref.model.checker import fast
from farref.model.checker.interface import Verdict
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import RULES, SOUND
from farref.properties.rref.always import rref_properties
from farref.properties.rref.portfolio import PORTFOLIO
from farref.properties.traces.file import Trace, decode, encode, record
from farref.rendering.tables import show_listing
from farref.terminal.output import page

Farref = Callable[..., Result]
SMALL = ("--workers", "2", "--forks", "1")


def ask(farref: Farref, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(farref("check", "rref", *words, "--format", "json", "--quiet").stdout)
    return answer


def one_line(result: Result) -> str:
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    return result.stderr


# -- sentences ---------------------------------------------------------------------------------------------------------


def test_the_headline_is_about_the_case_that_fails(farref: Farref, tmp_path: Path) -> None:
    """P1 is two sentences; what an abandoned fetch breaks is the second one."""
    trace, drawing = tmp_path / "p1.json", tmp_path / "p1.svg"
    words = ("--without", "fetch_pins_user", "--claim", "P1", "--save", str(trace))
    sentence = (
        "No entry is dropped while a user of it lives, comes to somebody who will take it, or has a fetch under way."
    )
    assert ask(farref, *words)["counterexample"]["text"] == sentence
    told = " ".join(farref("explain", str(trace), "-o", str(drawing)).stdout.split())
    assert f"P1 (clause R22) is violated: {sentence}" in told
    assert "has a fetch under way" in drawing.read_text()


def test_sentences_begin_with_a_capital() -> None:
    for one in rref_properties(PORTFOLIO[0].bounds):
        assert all(text[0].isupper() for text in (one.text, *(case.text for case in one.cases)))


def broken(name: str, rule: str) -> Trace:
    """Give the shortest run to a property, without a rule, with one fork and every fault."""
    bounds = PORTFOLIO[0].bounds
    [property_] = [one for one in rref_properties(bounds) if one.id == name]
    found = fast.check(RRefModel(bounds, SOUND.without(rule)), [property_]).counterexample
    assert found is not None
    return record(bounds, "sound", rule, found)


def test_an_abandoned_fetch_is_what_still_needs_the_entry() -> None:
    told = broken("P1", "fetch_pins_user")
    assert told.meaning.startswith("B has dropped its entry of x0, although the fetch of f0 is on its way: ")
    assert told.steps[-1].text.endswith("B drops its entry of x0, although the fetch of f0 is on its way")
    assert "A deletes f0, although its fetch is not answered" in told.steps[5].text
    assert "was dropped while it ran" not in told.steps[-1].text


MEANINGS = {
    ("P10", "registers_on_receipt"): "B does not count f0, which lives, and no message about it is under way",
    ("P10", "withdraws_failed_shares"): "B counts f0, which nobody holds, and no message about it is under way",
    ("P5", "fetch_pins_user"): "its caller gave up, and it stays parked on B",
    (
        "P5",
        "entry_counts_local_references",
    ): "what waited for the value of x0 when B dropped its entry is never answered",
    ("P5", "owner_registers_shares"): "code on B still waits for the value of x0: it hangs",
    ("P9", "registers_on_receipt"): "A waits until the function on B ends",
    ("P9", "fails_creation_as_error"): "A waits to hear that f0 is counted, and nothing is under way that tells it",
    ("P2", "processes_once"): "B has made a second entry of x0",
    (
        "P2",
        "entry_counts_local_references",
    ): "What waited for the value of x0 when B dropped its entry is never answered",
    ("P8", "timeout_is_only_an_answer"): "confirmed_by_owner() says yes, and B does not count it",
    ("P8", "confirms_forks_from_owner"): "confirmed_by_owner() says no, though it comes from B",
}


@pytest.mark.parametrize(("name", "rule"), MEANINGS)
def test_what_it_means_is_told_from_how_it_ends(name: str, rule: str) -> None:
    assert MEANINGS[name, rule] in broken(name, rule).meaning


@pytest.mark.parametrize("rule", RULES)
def test_every_way_to_break_means_something(rule: str) -> None:
    bounds = PORTFOLIO[1].bounds
    result = fast.check(RRefModel(bounds, SOUND.without(rule)), rref_properties(bounds), stop_at_violation=False)
    for found in result.counterexamples.values():
        told = record(bounds, "sound", rule, found)
        assert re.fullmatch(r"[A-Z][^{}]+\.", told.meaning)
        assert decode(encode(told)) == told


def test_a_fork_nobody_counted_is_not_called_counted() -> None:
    assert "A takes f0 for counted, though B does not count it" in broken("P8", "owner_registers_shares").steps[-1].text


# -- JSON, tables and pages --------------------------------------------------------------------------------------------


def test_the_bounds_of_the_portfolio_are_called_what_they_are(farref: Farref) -> None:
    assert "largest value of each bound" in ask(farref, "--seconds-max", "0.001")["bounds_are"]
    assert "bounds_are" not in ask(farref, *SMALL)


def test_a_replay_keeps_the_limits(farref: Farref) -> None:
    words = ("--profile", "torch", "--workers", "3", "--states-max", "2000", "--depth-max", "9")
    found = ask(farref, *words)["counterexample"]
    assert "--states-max 2000 --depth-max 9" in found["replay"]
    assert ask(farref, *shlex.split(found["replay"])[3:])["counterexample"] == found


def test_tables_do_not_call_an_expectation_a_verdict(farref: Farref) -> None:
    table = farref("check", "rref", "--each", "rule", *SMALL, "--quiet")
    assert table.exit_code == 1
    assert table.stdout.splitlines()[-1] == "✗ not shown in these bounds: every rule is necessary"


def test_what_was_left_open_after_a_violation_is_not_incomplete(farref: Farref) -> None:
    told = farref("check", "rref", "--without", "registers_atomically", "--quiet").stdout
    assert ("? not decided" in told, "incomplete" in told, "not run: 'two forks', " in told) == (True, False, True)


def test_internal_numbers_are_for_json(farref: Farref) -> None:
    words = ("--workers", "3", "--states-max", "100")
    assert any("words of 64 bits" in note for note in ask(farref, *words)["notes"])
    told = farref("check", "rref", *words, "--quiet").stdout
    assert ("limit 100" in told, "64 bits" in told, "calls of step" in told) == (True, False, False)


def test_a_defect_that_holds_says_how_to_see_it_break(farref: Farref) -> None:
    assert "Add --profile torch to see it break" in farref("check", "rref", "--claim", "F1", "--quiet").stdout
    assert "Add --profile" not in farref("check", "rref", "--claim", "P3", *SMALL, "--quiet").stdout


def test_pages_are_whole_and_tidy(farref: Farref) -> None:
    told = farref("check", "rref", "--without", "registers_atomically", "--quiet").stdout
    assert told.startswith("rref: every property under SOUND without registers_atomically, engine fast\n")
    assert [line for line in told.splitlines() if line != line.rstrip()] == []
    assert "…" not in told


def test_a_narrow_page_leaves_columns_out(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farref.terminal.output.PIPED_WIDTH", 80)
    row = {"rule": "x" * 29, "clause": "R10", "text": "a sentence", "verdict": "violated", "breaks": "P10", "steps": 2}
    wide = {**row, "configuration": "tree, failures", "distinct": 123_456}
    with page() as console:
        show_listing(console, Listing("title", (wide,), "all is well", Verdict.HOLDS))
    told = capsys.readouterr().out.splitlines()
    assert told[1].split() == ["rule", "clause", "verdict", "breaks", "steps", "distinct"]
    assert told[-1] == "✓ all is well"


# -- options -----------------------------------------------------------------------------------------------------------

IGNORED = {
    "check rref --seed 3": "add --walk",
    "check rref --compare-engines --engine fast --workers 2": "leave out --engine",
    "check rref --engine tlc --states-max 9": "--seconds-max",
    "check rref --compare-engines --depth-max 9 --workers 2": "--seconds-max",
    "check rref --each claim --workers 2": "its own bounds",
    "check rref --seconds-max nan": "'nan' is not a number of seconds",
    "check rref --seconds-max inf": "'inf' is not a number of seconds",
    "check rref --claim n3": "N3 is not modelled",
    "check rref --without fetch_pin_user": "did you mean 'fetch_pins_user'?",
    "check rref --save /no/such/folder/x.json": "cannot be written",
    "explain x.json -o x.png": "does not end in .svg",
}


@pytest.mark.parametrize(("words", "told"), IGNORED.items())
def test_what_would_be_ignored_is_refused(farref: Farref, words: str, told: str) -> None:
    assert told in one_line(farref(*words.split()))


def test_what_was_written_is_said(farref: Farref, tmp_path: Path) -> None:
    trace, drawing = tmp_path / "f1.json", tmp_path / "f1.svg"
    checked = farref("check", "rref", "--profile", "TORCH", "--claim", "F1", "--quiet", "--save", str(trace))
    assert checked.stderr == f"farref: the counterexample was written to {trace}\n"
    assert f"farref explain {trace} -o {drawing}" in checked.stdout
    assert "--save" not in checked.stdout
    assert farref("explain", str(trace), "-o", str(drawing)).stderr == f"farref: the diagram was written to {drawing}\n"


def test_nothing_at_all_is_answered_with_help(farref: Farref) -> None:
    result = farref()
    assert (result.exit_code, result.stderr) == (2, "")
    assert "\n  farref check rref  " in result.stdout


@pytest.mark.parametrize(
    ("field", "value"), [("loop_start", 99), ("loop_start", 0), ("loop_start", -1), ("workers", [])]
)
def test_a_trace_with_a_wrong_frame_is_refused(farref: Farref, saved: Path, field: str, value: object) -> None:
    saved.write_text(json.dumps({**json.loads(saved.read_bytes()), field: value}))
    assert field in one_line(farref("explain", str(saved), "-o", str(saved.with_suffix(".svg"))))
