"""`farref check threads`: the threads of a worker are searched as the protocols are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from farref.model.threads.rules import RULES
from farref.properties.threads.portfolio import PORTFOLIO

Farref = Callable[..., Result]

STATES = {
    "an interrupted call": 1604,
    "a call of oneself": 2724,
    "three frames": 2079,
    "calls from elsewhere": 48540,
    "a call among calls": 368912,
    "two callers": 159531,
    "one call, to its end": 562,
}


def test_threads_hold_and_everything_in_them_happens(farref: Farref) -> None:
    result = farref("check", "threads", "--format", "json", "--quiet")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert {run["name"]: run["distinct"] for run in answer["configurations"]} == STATES
    assert {one["verdict"] for one in answer["properties"]} == {"holds"}
    assert answer["never_fired"] == []
    assert None not in answer["witnesses"].values()
    assert [one.name for one in PORTFOLIO] == list(STATES)


BUGS = {
    "notes_interrupts": ("E1", "main is interrupted"),
    "outlives_a_failed_start": ("E5", "the system refuses; it ends"),
    "forgets_rousing_when_heard": ("E4", "hears that it was kicked"),
    "wakes_for_tasks_of_others": ("E5", "tells the background of it"),
    "leader_leaves_for_callers": ("E6", "it sleeps in line"),
    "tries_in_line": ("E2", "it stands by as the lookout"),
}
"""Bugs that the implementation once had, or that are easily made: what breaks, and a piece of the story."""


@pytest.mark.parametrize("rule", BUGS)
def test_a_bug_is_told_step_by_step(farref: Farref, tmp_path: Path, rule: str) -> None:
    trace = tmp_path / "trace.json"
    broken, piece = BUGS[rule]
    found = farref("check", "threads", "--without", rule, "--quiet", "--save", str(trace))
    assert found.exit_code == 1
    assert f"{broken} (clause" in found.stdout
    told = farref("explain", str(trace))
    assert told.exit_code == 0
    assert piece in " ".join(told.stdout.split())


def test_there_are_many_rules() -> None:
    assert len(RULES) >= 8
    assert set(BUGS) <= set(RULES)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--engine", "tlc"], "not written in TLA+"),
        (["--compare-engines", "--callers", "1"], "not written in TLA+"),
        (["--profile", "torch"], "no profile"),
        (["--each", "claim"], "no known defects"),
        (["--forks", "2"], "--forks is not a bound of threads"),
        (["--callers", "4"], "4"),
        (["--claim", "E8", "--callers", "2"], "it is asked of one call"),
    ],
)
def test_what_threads_do_not_have_is_refused(farref: Farref, words: list[str], complaint: str) -> None:
    refused = farref("check", "threads", *words)
    assert refused.exit_code == 2
    assert complaint in refused.stderr


def test_a_run_of_threads_is_not_drawn(farref: Farref, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    assert farref("check", "threads", "--without", "rouses_the_reader", "--quiet", "--save", str(trace)).exit_code == 1
    refused = farref("explain", str(trace), "-o", str(tmp_path / "trace.svg"))
    assert refused.exit_code == 2
    assert "a run of threads has none" in refused.stderr
