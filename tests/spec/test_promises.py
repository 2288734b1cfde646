"""The tables of promises: every test that one names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.spec.test_parity import OURS, names_of_tests

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ("security.md", "building/transport.md", "worlds.md")
ROWS: Final = [
    (page, row)
    for page in PAGES
    for row in re.findall(r"^\| (?!---)(.+) \|$", (ROOT / "spec" / page).read_text("utf-8"), re.MULTILINE)
    if "shown by" not in row and not row.startswith("--")
]


@pytest.mark.parametrize(("page", "row"), ROWS)
def test_every_promise_names_tests_that_exist(page: str, row: str) -> None:
    named = OURS.findall(row)
    assert named, f"{page}: no test shows {row}"
    for file, test in named:
        assert test in names_of_tests(ROOT / "tests" / "impl" / file), f"{file} has no {test}"


def test_every_page_has_promises() -> None:
    assert {page for page, _ in ROWS} == set(PAGES)
