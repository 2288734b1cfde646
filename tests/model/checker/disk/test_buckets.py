"""What is put into buckets comes out of them, from memory or from the disk; what is met is never called unmet for another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from farref.model.checker.disk.buckets import FOUND, PRINT, STATE, Buckets, marks_of
from farref.model.checker.disk.folder import Folder
from farref.model.checker.disk.recent import START_BITS, Recent

COUNT, EACH = 4, 1000


@pytest.mark.parametrize("bytes_max", [1 << 24, 100_000, 1000], ids=["in memory", "some on disk", "each on disk"])
def test_every_record_comes_back_once_and_as_wide_as_asked(tmp_path: Path, bytes_max: int) -> None:
    drawn, buckets = np.random.default_rng(1), Buckets(Folder(tmp_path), COUNT, bytes_max)
    for _level in range(2):
        expected = set()
        for width in (1, 1, 2, 1, 2, 2):  # a level of states that become wider is searched again: any order is allowed
            prints, rows = drawn.integers(0, 1 << 63, EACH).astype(np.uint64), np.full((EACH, width), 7, np.uint64)
            marks, numbers = (prints & np.uint64(0xFFFF)).astype(np.uint16), np.arange(EACH)
            buckets.add(prints, marks, numbers, numbers % 5, rows)
            sevens = (7,) * width + (0,) * (2 - width)
            expected |= {(one, number, *sevens) for number, one in enumerate(prints.tolist())}
        taken = [buckets.take(bucket, 2) for bucket in range(COUNT)]
        buckets.clear()
        for bucket, records in enumerate(taken):
            assert (buckets.of(records[:, PRINT]) == bucket).all()
            assert (marks_of(records[:, FOUND]) == (records[:, PRINT] & np.uint64(0xFFFF))).all()
        every = np.concatenate(taken)
        parents = every[:, FOUND] & np.uint64(0xFFFFFFFF)
        found = zip(every[:, PRINT].tolist(), parents.tolist(), *every[:, STATE:].T.tolist(), strict=True)
        assert len(every) == len(expected) == 6 * EACH
        assert set(found) == expected
    assert list(tmp_path.iterdir()) == []


def test_only_what_came_is_met() -> None:
    recent, drawn = Recent(1 << START_BITS), np.random.default_rng(2)
    came: set[tuple[int, int]] = set()
    for _ in range(50):
        prints = drawn.integers(0, 2000, EACH).astype(np.uint64) << np.uint64(50)
        marks = drawn.integers(0, 3, EACH).astype(np.uint16)
        unmet = recent.unmet(prints, marks)
        chunk = list(zip(prints.tolist(), marks.tolist(), strict=True))
        told = {chunk[place] for place in unmet.tolist()}
        assert told >= {*chunk} - came
        came |= {*chunk}
    assert (np.diff(unmet) > 0).all()


def test_what_differs_in_a_mark_or_in_the_last_bit_is_told_apart() -> None:
    recent = Recent(1 << START_BITS)
    prints, marks = np.array([5, 5, 4, 5], np.uint64), np.array([1, 2, 1, 1], np.uint16)
    assert recent.unmet(prints, marks).tolist() == [0, 1, 2]
    assert 0 not in recent.unmet(np.zeros(1, np.uint64), np.zeros(1, np.uint16))[1:]
    assert recent.unmet(np.zeros(1, np.uint64), np.zeros(1, np.uint16)).size == 0
