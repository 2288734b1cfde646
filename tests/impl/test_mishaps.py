"""Mishaps in the middle of work. `python -m tests.impl.mishaps` is the long version."""

from __future__ import annotations

from tests.impl.mishaps import KINDS, campaign


def test_mishaps_change_no_value_and_leave_nothing() -> None:
    happened, done = campaign(events=150, seed=1)
    assert done >= 75
    assert all(happened[kind] for kind in (*KINDS, "felt")), happened
