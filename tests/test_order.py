"""What waits and what is long begins early, in the processes that have time for it, and every test is run once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from tests.order import in_order


@dataclass(frozen=True)
class Told:
    """As much of a test as its order depends on."""

    name: str
    mark: str = ""
    path: Path = Path("test_some.py")

    def get_closest_marker(self, name: str) -> object:
        return name == self.mark or None


WAITS = [Told(f"waits {number}", "waits") for number in range(6)]
LONG = [Told(f"long {number}", "long", Path(f"test_{number // 2}.py")) for number in range(8)]
OTHERS = [Told(f"other {number}") for number in range(80)]
ALL = [*OTHERS[:50], *WAITS, *LONG, *OTHERS[50:]]


def ordered(items: list[Told], processes: int) -> list[Told]:
    return cast(list[Told], in_order(cast(list[pytest.Item], items), processes))


def cut(items: list[Told], processes: int) -> list[list[Told]]:
    """Cut as xdist does with worksteal: each process gets its part of what is left."""
    found, left = [], [*items]
    for number in range(processes):
        length = len(left) // (processes - number)
        found.append(left[:length])
        left = left[length:]
    return found


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 5, 6, 7, 12, 200])
@pytest.mark.parametrize("items", [ALL, WAITS, LONG, OTHERS, [*WAITS, *LONG], []], ids=len)
def test_every_test_is_run_once(items: list[Told], processes: int) -> None:
    found = ordered(items, processes)
    assert len(found) == len(items)
    assert {*found} == {*items}


@pytest.mark.parametrize("processes", [4, 5, 6, 7])
def test_what_waits_begins_in_some_processes_and_what_is_long_in_the_others(processes: int) -> None:
    parts = cut(ordered(ALL, processes), processes)
    waiting = [part for part in parts if part[0].mark == "waits"]
    assert len(waiting) == processes // 2
    assert {one for part in waiting for one in part[: len(WAITS)] if one.mark} == {*WAITS}
    assert all(part[0].mark == "long" for part in parts[processes // 2 :])


@pytest.mark.parametrize("processes", [4, 5, 6])
def test_what_is_long_in_one_module_stays_in_one_process(processes: int) -> None:
    parts = cut(ordered(ALL, processes), processes)
    for path in {one.path for one in LONG}:
        assert sum(any(one.mark and one.path == path for one in part) for part in parts) == 1
