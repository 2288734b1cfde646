"""spec/building/: each core on a page has every message and every clause, and names nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, get_args

from farref.clauses import clauses
from farref.model.autograd import messages as autograd
from farref.model.rref import messages

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "spec" / "building" / "README.md").read_text("utf-8")
CORE: Final = PAGE.partition("## The core on a page")[2].partition("\n## ")[0]
ROWS: Final = [line.strip("|").split(" | ") for line in CORE.splitlines() if line.startswith("| ")][1:]
WHOLE: Final = {"Call", "Return", "Ack"}
"""Messages whose rows are about what they carry, or answer."""


def test_every_message_has_a_row_of_its_own() -> None:
    arriving = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}
    kinds = {kind.__name__ for kind in (*messages.USER_CALLS, *messages.CONTROL)}
    assert kinds - WHOLE <= arriving


def test_every_message_that_is_told_or_sent_is_one() -> None:
    sent = {name for row in ROWS for name in re.findall(r"(?:send|tell [\w' ]+?) (?:a )?`(\w+)`", row[1])}
    assert {"RemoteCall", "UserAccept", "ChildAccept", "ForkRequest", "UserDelete", "CreateFailed", "FetchCall"} <= sent
    assert sent <= {kind.__name__ for kind in (*messages.USER_CALLS, *messages.CONTROL)}


def test_every_clause_of_a_run_without_deaths_is_cited() -> None:
    cited = set(re.findall(r"\bR\d+\b", CORE))
    assert cited <= set(clauses())
    assert {f"R{number}" for number in (6, 7, *range(10, 27), 28, 29, 31)} <= cited


def test_what_is_done_in_one_place_has_a_row() -> None:
    assert set(re.findall(r"\*(\w+)\*", "".join(row[1] for row in ROWS))) <= {row[0].strip(" *") for row in ROWS}


def test_the_size_of_the_second_worker_is_as_told() -> None:
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in (ROOT / "examples" / "javascript").glob("*.mjs"))
    assert f"{round(lines, -2):,} lines" in PAGE


WORDS_A_MINUTE: Final = 230
HALF_AN_HOUR: Final = 30


def words(text: str) -> int:
    """Count the words of a text; bytes are looked at, not read."""
    return len(re.findall(r"\w+", re.sub(r"\b[0-9a-f]{6,}\b", "", text)))


def test_what_is_to_be_read_takes_half_an_hour() -> None:
    known = clauses()
    whole = [known[name].text for name in ("R1", "R2", "R4", "R5", "R33")]
    rules = [known[name].text.partition("**Why.**")[0] for name in ("R6", "R7", "R28", "R32", "R34")]
    states = (ROOT / "spec" / "states.md").read_text("utf-8").partition("## A pass at its root")[0]
    transcript = (ROOT / "spec" / "building" / "transcript.md").read_text("utf-8")
    assert sum(map(words, [PAGE, *whole, *rules, states, transcript])) <= HALF_AN_HOUR * WORDS_A_MINUTE
    assert sum(map(int, re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE))) == HALF_AN_HOUR


# -- distributed autograd on a page ------------------------------------------------------------------------------------

PASSES: Final = (ROOT / "spec" / "building" / "passes.md").read_text("utf-8")
PASS_ROWS: Final = [line.strip("|").split(" | ") for line in PASSES.splitlines() if line.startswith("| ")][1:]
PASS_KINDS: Final = {
    kind.__name__
    for kind in (
        *get_args(autograd.Counted), autograd.Report, autograd.Commit, autograd.Committed, autograd.Abort,
        autograd.ForwardCall, *get_args(autograd.ContextMessage),
    )
}  # fmt: skip


def test_every_message_of_autograd_has_a_row_of_its_own() -> None:
    assert {name for row in PASS_ROWS for name in re.findall(r"^ *`(\w+)` arrives", row[0])} == PASS_KINDS


def test_every_message_of_autograd_is_told_somewhere() -> None:
    did = "".join(row[1] for row in PASS_ROWS)
    assert {name for name in re.findall(r"`([A-Z]\w+)`", did) if name in PASS_KINDS} == PASS_KINDS


def test_every_clause_of_a_pass_and_every_fault_but_one_is_there() -> None:
    assert {f"A{number}" for number in (4, *range(7, 23), 24, 25)} <= set(re.findall(r"\bA\d+\b", PASSES))
    faults = {fault.name for fault in autograd.Fault if fault is not autograd.Fault.NONE}
    assert faults - set(re.findall(r"\b[A-Z_]{4,}\b", PASSES)) == {"UNPAIRED"}, "which never happens (A18)"


def test_what_is_done_in_one_place_of_a_pass_has_a_row() -> None:
    done = set(re.findall(r"\*(\w+)\*", "".join(row[1] for row in PASS_ROWS))) - {"ready"}
    assert done == {row[0].strip(" *") for row in PASS_ROWS if row[0].strip().startswith("*")}
