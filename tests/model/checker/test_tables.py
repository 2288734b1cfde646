"""The arrays behind the fast engine, against sets and dicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farref.model.checker.learned import find_shifts, mixed
from farref.model.checker.origins import Origins
from farref.model.checker.slots import UNKNOWN, Slots
from farref.model.checker.visited import Visited


@pytest.mark.parametrize(("spread", "size"), [(40, 50), (64, 2000)], ids=["crowded", "even"])
def test_visited_is_a_set(spread: int, size: int) -> None:
    random = np.random.default_rng(1)
    visited = Visited()
    seen: set[int] = set()
    for _ in range(30):
        prints = random.integers(1, 1 << 10, size, dtype=np.uint64) << np.uint64(spread - 10)
        prints |= random.integers(1, 16, size, dtype=np.uint64)
        new = visited.add(prints)
        assert new.tolist() == sorted(new.tolist())
        fresh = set(prints.tolist()) - seen
        assert len(new) == len(fresh)
        assert set(prints[new].tolist()) == fresh
        seen |= fresh
    assert visited.size == len(seen) > 5 * size


def test_slots_are_a_dict() -> None:
    random = np.random.default_rng(2)
    keys = np.unique(random.integers(0, 1 << 20, 5000, dtype=np.uint64) << np.uint64(30))
    results = random.integers(-1, 100, keys.size).astype(np.int32)
    slots = Slots(keys, results)
    assert (slots.find(keys) == results).all()
    assert (slots.find(keys + np.uint64(1)) == UNKNOWN).all()
    found, values = slots.items()
    assert dict(zip(found.tolist(), values.tolist(), strict=True)) == dict(
        zip(keys.tolist(), results.tolist(), strict=True)
    )


@given(st.lists(st.integers(1, 2**64 - 1), min_size=1, max_size=4))
def test_shifts_keep_all_bits_apart(masks: list[int]) -> None:
    taken = 0
    for mask, shift in zip(masks, find_shifts(masks), strict=True):
        if shift is not None:
            moved = mask << shift if shift >= 0 else mask >> -shift
            assert moved.bit_count() == mask.bit_count()
            assert moved < 2**64
            assert not moved & taken
            taken |= moved


def test_mixing_is_one_to_one_and_differs_by_word() -> None:
    numbers = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    assert np.unique(mixed(numbers, 0)).size == numbers.size
    assert not (mixed(numbers, 0) == mixed(numbers, 1)).any()


def test_origins_lead_back() -> None:
    origins = Origins(301)
    origins.add(np.array([0, 0]), np.array([5, 6]))
    origins.add(np.array([], np.int64), np.array([], np.int64))
    origins.add(np.array([2, 1]), np.array([7, 300]))
    assert origins.size == 5
    assert [origins.path(number) for number in range(5)] == [[], [5], [6], [6, 7], [5, 300]]
