"""The suite that `pytest --pyargs farref.properties.conformance --backend NAME` runs: one test for each check."""

from __future__ import annotations

from collections.abc import Callable


def test_conformance(judge: Callable[[], None]) -> None:
    """A backend keeps what a check looks at; `farref/pytest_plugin.py` has the checks and the verdict."""
    judge()
