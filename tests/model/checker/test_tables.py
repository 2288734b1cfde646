"""The arrays behind the fast engine, against sets and dicts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farref.model.checker.learned import find_shifts, mixed
from farref.model.checker.origins import Origins
from farref.model.checker.slots import UNKNOWN, Slots, Words
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


MANY = 100_000
UNEVEN = {
    "small numbers": lambda _: np.arange(1, MANY + 1, dtype=np.uint64),
    "low bits differ": lambda _: np.uint64(0xABCDEF << 40) + np.arange(MANY, dtype=np.uint64),
    "high bits differ": lambda _: np.arange(1, MANY + 1, dtype=np.uint64) << np.uint64(44),
    "multiples": lambda _: np.arange(1, MANY + 1, dtype=np.uint64) * np.uint64(3 << 20),
    "the least of 24": lambda random: random.integers(1, 2**64 - 1, (MANY, 24), np.uint64).min(axis=1),
}
"""Fingerprints that are not evenly spread; those of orbits are the least of as many as there are renamings."""


@pytest.mark.parametrize("make", UNEVEN.values(), ids=UNEVEN)
def test_visited_is_a_set_of_unevenly_spread_numbers(make: Callable[[np.random.Generator], Words]) -> None:
    random = np.random.default_rng(3)
    prints = make(random)
    visited, seen = Visited(), set[int]()
    for part in np.array_split(random.permutation(np.concatenate([prints, prints[::3]])), 20):
        fresh = set(part.tolist()) - seen
        new = part[visited.add(part)].tolist()
        assert len(new) == len(fresh)
        assert set(new) == fresh
        seen |= fresh
    assert visited.size == len(seen) == len(np.unique(prints))
    assert visited.add(prints).size == 0


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
