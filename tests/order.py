"""The order of the tests: what mostly waits begins first, and beside it what computes for long.

`--dist worksteal` cuts the list into pieces of the same length, one for each process, and whoever is done takes some of the end
of the longest piece that is left. So what stands at the head of a piece begins at once, in the process that has the piece, one
test after the other. All that waits at the head of one piece took longer than everything else together. At the end of a run
there is nothing left to do beside a test that waits, and nobody to share one that computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import TypeVar

import pytest

Item = TypeVar("Item")


def in_order(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """Order the tests for some processes: half of them begin with what waits, the others with what is long."""
    waiting, long, others = ([one for one in items if mark_of(one) == mark] for mark in ("waits", "long", None))
    half = max(1, processes // 2)
    heads = [*dealt(([one] for one in waiting), half), *dealt(by_module(long), max(1, processes - half))]
    rest = iter(others)
    return [*pieces(heads, rest, len(items), processes), *rest]


def pieces(heads: Sequence[list[Item]], others: Iterator[Item], left: int, processes: int) -> Iterator[Item]:
    """Give one piece after the other, of the lengths that xdist cuts: a head, and as many others as it then takes."""
    for number, head in enumerate(heads):
        length = left // max(1, processes - number)
        yield from head
        yield from islice(others, max(0, length - len(head)))
        left -= length


def dealt(groups: Iterable[Sequence[Item]], hands: int) -> list[list[Item]]:
    """Deal groups in turn. Each stays together."""
    found: list[list[Item]] = [[] for _ in range(hands)]
    for number, group in enumerate(groups):
        found[number % hands] += group
    return found


def by_module(items: Iterable[pytest.Item]) -> Iterator[list[pytest.Item]]:
    """Keep tests of one module together: what they need may be made once for all of them."""
    return (list(group) for _, group in groupby(items, lambda one: one.path))


def mark_of(item: pytest.Item) -> str | None:
    """Give the mark that says when a test begins."""
    return next((mark for mark in ("waits", "long") if item.get_closest_marker(mark) is not None), None)
