"""A search on disk tells what the search in memory tells, also when it was ended in the middle and taken up again."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from farref.model.checker import fast
from farref.model.checker.disk import search as disk
from farref.model.checker.disk.folder import Folder
from farref.model.checker.disk.search import Place
from farref.model.checker.interface import Budget, ModelError, Property, Result, Verdict
from farref.model.checker.outcomes import Outcomes
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND, TORCH, RRefRules
from farref.model.rref.world import Bounds
from farref.properties.protocol import Claim
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.sometimes import rref_witnesses

WORLDS = {
    "everything": Bounds(2, forks=1, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, shutdown=True),
    "faults": Bounds(2, forks=2, drops=1, duplicates=1),
    "two RRefs": Bounds(2, rrefs=2, forks=1, drops=1),
}
SMALL, TINY = Bounds(2, forks=2, drops=1), Bounds(2, forks=1, drops=1, fetches=1)
MEMORY = 1 << 32


@pytest.fixture(autouse=True)
def few_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small worlds need few buckets; and every level is saved."""
    monkeypatch.setattr(disk, "BUCKETS", 2)
    monkeypatch.setattr(disk, "BUCKETS_MAX", 8)
    monkeypatch.setattr(disk, "SAVE_SECONDS", 0.0)


def everything(bounds: Bounds) -> tuple[Property, ...]:
    return (*rref_properties(bounds), *rref_witnesses(bounds))


def told(result: Result) -> dict[str, Any]:
    return {
        **{
            name: getattr(result, name)
            for name in ("verdict", "distinct", "generated", "depth", "verdicts", "coverage")
        },
        "broken": {id_: (one.case, len(one.actions)) for id_, one in result.counterexamples.items()},
        "witnesses": {id_: len(actions) for id_, actions in result.witnesses.items()},
    }


@pytest.mark.parametrize("bounds", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("rules", [SOUND, TORCH], ids=["sound", "torch"])
@pytest.mark.parametrize("stop", [False, True])
def test_it_tells_what_the_search_in_memory_tells(bounds: Bounds, rules: RRefRules, stop: bool, tmp_path: Path) -> None:
    model, wanted = RRefModel(bounds, rules), everything(bounds)
    one = fast.check(model, wanted, stop_at_violation=stop)
    other = disk.check(model, wanted, Place(tmp_path, MEMORY), stop_at_violation=stop)
    assert told(one) == told(other)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_known_defects_are_found_by_runs_as_short(claim: Claim, tmp_path: Path) -> None:
    model = RRefModel(claim.bounds, TORCH)
    one = fast.check(model, (claim.property,))
    other = disk.check(model, (claim.property,), Place(tmp_path, MEMORY))
    assert told(one) == told(other)
    assert other.counterexample is not None
    assert reduce(model.step, other.counterexample.actions, model.initial) is not None  # type: ignore[arg-type]


def test_little_memory_changes_nothing(tmp_path: Path) -> None:
    bounds = WORLDS["faults"]
    one = fast.check(RRefModel(bounds), everything(bounds))
    assert told(one) == told(disk.check(RRefModel(bounds), everything(bounds), Place(tmp_path, 1 << 18)))


def test_a_search_that_was_ended_after_any_level_goes_on(tmp_path: Path) -> None:
    """In a new process nothing is left but the folder; here all that was in memory is thrown away."""
    model, wanted = RRefModel(TINY), everything(TINY)
    whole = fast.check(model, wanted, stop_at_violation=False)
    for depth in range(2, whole.depth):
        place = Place(tmp_path / str(depth), MEMORY)
        part = disk.check(model, wanted, place, budget=Budget(depth_max=depth), stop_at_violation=False)
        assert part.verdict is Verdict.INCOMPLETE
        rest = disk.check(model, wanted, Place(place.path, MEMORY, resume=True), stop_at_violation=False)
        assert told(rest) == told(whole)


def test_what_a_level_left_that_was_not_finished_is_forgotten(tmp_path: Path) -> None:
    model, wanted = RRefModel(SMALL), everything(SMALL)
    for writes in range(40, 130, 30):
        place = Place(tmp_path / str(writes), MEMORY)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Folder, "write", failing_after(writes, ZeroDivisionError()))
            with pytest.raises(ZeroDivisionError):
                disk.check(model, wanted, place)
        rest = disk.check(model, wanted, Place(place.path, MEMORY, resume=True))
        assert told(rest) == told(fast.check(model, wanted))


def test_without_room_it_is_incomplete_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, wanted = RRefModel(SMALL), everything(SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", failing_after(90, OSError(errno.ENOSPC, "No space left on device")))
        part = disk.check(model, wanted, Place(tmp_path, MEMORY))
    assert part.verdict is Verdict.INCOMPLETE
    assert "there is no room" in part.notes[0]
    assert told(disk.check(model, wanted, Place(tmp_path, MEMORY, resume=True))) == told(fast.check(model, wanted))


def failing_after(times: int, error: Exception) -> Callable[..., None]:
    write, left = Folder.write, [times]

    def failing(self: Folder, name: str, array: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise error
        write(self, name, array)

    return failing


def test_states_that_64_bits_do_not_tell_apart_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first 64 bits all but four are taken away: nearly every print is that of many states."""
    draw = Outcomes.draw
    monkeypatch.setattr(Outcomes, "draw", lambda self, leaf: [draw(self, leaf)[0] & 15, *draw(self, leaf)[1:]])
    found = disk.check(RRefModel(TINY), everything(TINY), Place(tmp_path, MEMORY))
    monkeypatch.undo()
    assert found.distinct == fast.check(RRefModel(TINY), everything(TINY)).distinct


def test_the_chance_of_a_missed_state_is_that_of_80_bits(tmp_path: Path) -> None:
    found = disk.check(RRefModel(SMALL), (), Place(tmp_path, MEMORY))
    assert found.collision_bound == found.distinct**2 / 2**81


def test_another_world_is_refused(tmp_path: Path) -> None:
    disk.check(RRefModel(SMALL), everything(SMALL), Place(tmp_path, MEMORY), budget=Budget(depth_max=4))
    for model in (RRefModel(Bounds(2, forks=2)), RRefModel(SMALL, TORCH)):
        with pytest.raises(ModelError, match="the search of another world"):
            disk.check(model, everything(SMALL), Place(tmp_path, MEMORY, resume=True))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="file/states cannot be made: Not a directory"):
        disk.check(RRefModel(SMALL), (), Place(tmp_path / "file" / "states", MEMORY))


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("years of work")
    with pytest.raises(ModelError, match="not of a search"):
        disk.check(RRefModel(SMALL), (), Place(tmp_path, MEMORY))
    assert mine.read_text() == "years of work"
    with pytest.raises(ModelError, match="no search to go on with"):
        disk.check(RRefModel(SMALL), (), Place(tmp_path, MEMORY, resume=True))


def test_two_searches_do_not_share_a_folder(tmp_path: Path) -> None:
    with Folder(tmp_path).locked(), pytest.raises(ModelError, match="another search is at work"):
        disk.check(RRefModel(SMALL), (), Place(tmp_path, MEMORY))


def test_a_chunk_leaves_nothing_in_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty slice of its rows would keep them until the end of the level: a search of 10⁹ states took twice its memory."""
    kept: list[int] = []
    next_level = disk.DiskSearch._next_level

    def looking(self: disk.DiskSearch, level: Any, found: Any) -> Any:
        kept.extend((rows if rows.base is None else rows.base).nbytes for rows, _ in found)
        return next_level(self, level, found)

    monkeypatch.setattr(disk.DiskSearch, "_next_level", looking)
    found = disk.check(RRefModel(SMALL), everything(SMALL), Place(tmp_path, MEMORY))
    assert found.verdict == Verdict.HOLDS
    assert kept
    assert not any(kept)
