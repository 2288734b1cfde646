"""The table of PyTorch's tests: every test it names is there, and nobody is named twice."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
TEXT: Final = (ROOT / "spec" / "parity.md").read_text("utf-8")
TESTS: Final = TEXT.partition("\n# PyTorch's names, and ours\n")[0]
ROWS: Final = [row for row in re.findall(r"^\| (.+?) \| (.+) \|$", TESTS, re.MULTILINE) if row[0] != "PyTorch"]
OURS: Final = re.compile(r"`((?:\w+/)*test_\w+\.py)::(test_\w+)`")


def names_of_tests(path: Path) -> set[str]:
    """The tests that a file has, by name."""
    tree = ast.parse(path.read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize(("theirs", "ours"), ROWS)
def test_every_row_names_a_test_that_exists_or_says_why_not(theirs: str, ours: str) -> None:
    named = OURS.findall(ours)
    assert named or re.match(r"none: \w+", ours), theirs
    for file, test in named:
        assert test in names_of_tests(ROOT / "tests" / "impl" / file), f"{file} has no {test}"


def test_no_test_of_pytorch_is_in_two_rows() -> None:
    theirs = [name for row, _ in ROWS for name in re.findall(r"\btest_\w+", row)]
    assert len(theirs) == len(set(theirs)) > 90


def test_every_parity_test_is_named() -> None:
    named = {test for _, ours in ROWS for _, test in OURS.findall(ours)}
    extra = {
        test
        for path in (ROOT / "tests" / "impl" / "parity").glob("test_*.py")
        for test in names_of_tests(path)
        if test not in named
    }
    assert not extra, f"beyond parity: give it a row, or another file: {sorted(extra)}"
