"""spec/building/: the core on a page has every message and every clause of a core, and names nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from farref.clauses import clauses
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
