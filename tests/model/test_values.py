"""Tables and sets never change; they give changed copies."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farref.model.values import IdSet, Table, no_ids, quicken

SIZE = 5
ids = st.integers(0, SIZE - 1)


@given(st.lists(ids), ids)
def test_an_id_set_is_a_set(added: list[int], removed: int) -> None:
    ours, theirs = no_ids(SIZE), set(added) - {removed}
    for key in added:
        ours = ours.add(key)
    ours = ours.remove(removed)
    assert set(ours.members()) == theirs
    assert [key in ours for key in range(SIZE)] == [key in theirs for key in range(SIZE)]
    assert ours.is_empty() == (not theirs)


@given(st.lists(st.integers(), min_size=1), st.data())
def test_a_table_is_a_list(values: list[int], data: st.DataObject) -> None:
    key = data.draw(st.integers(0, len(values) - 1))
    table = Table(values)
    changed = table.put(key, 7)
    assert list(table) == values
    assert list(changed) == [*values[:key], 7, *values[key + 1 :]]
    assert type(changed) is Table
    assert changed.differences(table) == ([key] if values[key] != 7 else [])


def test_equal_sets_are_equal_values() -> None:
    assert no_ids(3).add(1) == IdSet((False, True, False))
    assert hash(no_ids(3).add(1).remove(1)) == hash(no_ids(3))


class Pair(NamedTuple):
    left: int
    right: int = 2


class Quick(NamedTuple):
    left: int
    right: int = 2


quicken(Quick)


@given(st.dictionaries(st.sampled_from(("left", "right")), ids))
def test_a_quickened_record_changes_as_any_other(changes: dict[str, int]) -> None:
    assert tuple(Quick(1)._replace(**changes)) == tuple(Pair(1)._replace(**changes))
    assert type(Quick(1)._replace(**changes)) is Quick


def test_a_quickened_record_has_no_other_fields() -> None:
    with pytest.raises(KeyError, match="middle"):
        Quick(1)._replace(middle=3)  # type: ignore[call-arg]
