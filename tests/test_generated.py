"""What a program writes into the tree is what it would write today, and nothing is left of what it wrote before.

The tables are also the test that every claim breaks PyTorch's protocol and not ours, and that every rule is needed: the
commands that make them end with another exit code otherwise.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.generated import ROOT, TLA, configurations, generated


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", generated(), ids=short)
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert path.read_text() == generated()[path](), "run make generated"


def test_no_configuration_is_left_over() -> None:
    assert set(TLA.glob("*.cfg")) == {path for path in configurations() if path.suffix == ".cfg"}
