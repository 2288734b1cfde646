"""The command line, called within the test's own process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from farref.cli import cli

Farref = Callable[..., Result]


@pytest.fixture
def farref() -> Farref:
    """Call farref with some words."""

    def call(*words: str) -> Result:
        return CliRunner().invoke(cli, list(words))

    return call


@pytest.fixture
def saved(farref: Farref, tmp_path: Path) -> Path:
    """The trace of claim N1, as `farref check --save` writes it."""
    path = tmp_path / "n1.json"
    farref("check", "rref", "--profile", "torch", "--claim", "N1", "--quiet", "--save", str(path))
    return path
