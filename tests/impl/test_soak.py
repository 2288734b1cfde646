"""Random work on real processes, with real concurrency. `python -m tests.impl.soak` is the long version."""

from __future__ import annotations

import pytest

from tests.impl.soak import AT_ONCE, Report, soak


def test_random_work_leaves_every_table_empty() -> None:
    report = soak([range(4)] * 3, seed=1)
    assert report.rounds == 4 * 3 * AT_ONCE
    assert report.pauses == 4
    assert len(set(report.descriptors)) == 1


@pytest.mark.parametrize(
    ("report", "complaint"),
    [
        (Report(9, 2, [(9, 9, 9), (9, 9, 10)], [(50.0,) * 4] * 2), "file descriptors"),
        (Report(9, 2, [(9, 9, 9)] * 2, [(50.0,) * 4, (50.0, 50.0, 60.0, 50.0)]), "memory of C"),
    ],
)
def test_growth_is_complained_of(report: Report, complaint: str) -> None:
    assert [complaint in text for text in report.complaints()] == [True]


def test_no_growth_is_not() -> None:
    assert Report(9, 2, [(9, 9, 9)] * 2, [(50.0,) * 4, (53.0,) * 4]).complaints() == []
