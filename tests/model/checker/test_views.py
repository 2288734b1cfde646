"""Views record what is read, and nothing that is not."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import pytest

from farref.model.checker import fast
from farref.model.checker.columns import Columns
from farref.model.checker.footprints import Footprints
from farref.model.checker.interface import Kind, ModelError
from farref.model.checker.shapes import Shape
from farref.model.checker.views import Reader, changes_to
from farref.model.values import IdSet, Table
from tests.model.checker.toys import Toy, prop


class Light(Enum):
    OFF = 0
    ON = 1


class Lamp(NamedTuple):
    light: Light
    ids: IdSet

    @property
    def is_on(self) -> bool:
        return self.light is Light.ON

    def has(self, key: int) -> bool:
        return key in self.ids


class Basket(NamedTuple):
    size: int

    def __contains__(self, key: object) -> bool:
        return key == "apple"


class Room(NamedTuple):
    lamps: Table[Lamp]
    total: int
    basket: Basket = Basket(1)


LAMP = Lamp(Light.OFF, IdSet((False, True, False)))
ROOM = Room(Table((LAMP, LAMP)), 1)
TWO = Room(Table((LAMP, Lamp(Light.ON, IdSet((True, True, False))))), 1)


@pytest.fixture
def reader() -> Reader:
    return Reader(Columns(Shape(ROOM), {}), [])


def paths(reader: Reader) -> list[tuple[str | int, ...]]:
    return [reader.columns.shape.paths[column] for column in reader.reads]


def test_nothing_is_read_by_looking_at_parts(reader: Reader) -> None:
    room = reader.state()
    assert len(room.lamps) == 2
    assert room.lamps[0] == room.lamps[0]
    assert room._replace(lamps=room.lamps).lamps == room.lamps
    assert paths(reader) == []


def test_tables_are_compared_only_where_they_were_changed(reader: Reader) -> None:
    room = reader.state()
    changed = room.lamps.put(1, room.lamps[1]._replace(light=Light.ON))
    assert changed.differences(room.lamps) == [1]
    assert paths(reader) == [("lamps", 1, "light")]
    assert room.lamps.put(0, room.lamps[0]).differences(room.lamps) == []


def test_leaves_methods_and_properties(reader: Reader) -> None:
    room = reader.state()
    assert room.total == 1
    assert not room.lamps[1].is_on
    assert room.lamps[-1].has(1)
    assert "apple" in room.basket
    assert paths(reader) == [("total",), ("lamps", 1, "light"), ("lamps", 1, "ids", 1)]


def test_a_set_is_read_as_far_as_need_be(reader: Reader) -> None:
    ids = reader.state().lamps[0].ids
    assert not ids.is_empty()
    assert paths(reader) == [("lamps", 0, "ids", 0), ("lamps", 0, "ids", 1)]
    assert list(ids.members()) == [1]
    assert list(ids.add(2).remove(1).members()) == [2]
    assert 2 in ids.add(2)
    assert ids.remove(1).is_empty()
    assert len(paths(reader)) == 3


def test_parts_are_compared_leaf_by_leaf(reader: Reader) -> None:
    room = reader.state()
    assert room.lamps[0] != LAMP._replace(light=Light.ON)
    assert paths(reader) == [("lamps", 0, "light")]
    assert LAMP == room.lamps[0]  # noqa: SIM300 (the tuple's own comparison must give way)
    assert room.lamps[0] == room.lamps[1]
    assert room.lamps[0] != (1, 2, 3)
    assert room.lamps[0] != 5
    assert room.lamps.put(0, LAMP) == room.lamps


def test_changes_are_told_leaf_by_leaf(reader: Reader) -> None:
    room = reader.state()
    lamp = room.lamps[0]
    changed = room._replace(lamps=room.lamps.put(0, lamp._replace(ids=lamp.ids.add(0).add(1))), total=2)
    changes = {reader.columns.shape.paths[column]: value for column, value in changes_to(reader, changed).items()}
    assert changes == {("lamps", 0, "ids", 0): True, ("total",): 2}
    assert set(paths(reader)) == {("lamps", 0, "ids", 0), ("lamps", 0, "ids", 1), ("total",)}


def test_a_whole_new_state_may_be_returned(reader: Reader) -> None:
    assert changes_to(reader, ROOM) == {}
    assert list(changes_to(reader, ROOM._replace(total=7)).values()) == [7]


def test_parts_may_move() -> None:
    reader = Reader(Columns(Shape(TWO), {}), [])
    room = reader.state()
    marked = room.lamps[0]._replace(ids=room.lamps[0].ids.add(2))
    moved = room._replace(lamps=Table((room.lamps[1], marked)))
    changes = {reader.columns.shape.paths[column]: value for column, value in changes_to(reader, moved).items()}
    assert changes == {
        ("lamps", 0, "light"): Light.ON,
        ("lamps", 0, "ids", 0): True,
        ("lamps", 1, "light"): Light.OFF,
        ("lamps", 1, "ids", 0): False,
        ("lamps", 1, "ids", 2): True,
    }
    assert len(reader.reads) == 8


def test_a_footprint_is_reused_where_it_fits_and_nowhere_else() -> None:
    """What is read depends on what was read before; the tree of footprints follows."""
    columns = Columns(Shape(ROOM), {})
    for column in range(len(columns.values)):
        columns.code(column, "other")  # every leaf has a second value
    paths_ = columns.shape.paths
    light, total, first = (paths_.index(p) for p in [("lamps", 0, "light"), ("total",), ("lamps", 1, "ids", 0)])

    def look(room: Any) -> int:
        return room.total == 1 if room.lamps[0].light is Light.OFF else bool(room.lamps[1].ids[0])

    footprints = Footprints(columns, "look", look, lambda _, answer: int(answer))

    def row(*changed: int) -> list[int]:
        words = [0] * columns.words
        for column in changed:
            words[columns.word[column]] |= 1 << columns.offset[column]
        return words

    assert footprints.result(row()) == 1
    calls = footprints.calls
    assert footprints.result(row(first)) == 1  # not read as long as the light is off
    assert footprints.calls == calls
    assert footprints.result(row(total)) == 0
    assert footprints.result(row(light)) == 0
    assert footprints.result(row(light, first)) == 1
    assert footprints.calls == 4 * calls
    assert footprints.result(row(light, first, total)) == 1
    assert footprints.calls == 4 * calls
    assert len(list(footprints.paths())) == 4


@pytest.mark.parametrize(
    "step",
    [
        lambda room, _: None if {room.lamps: 1} else room,
        lambda room, _: room.lamps[:1] and None,
        lambda room, _: room.lamps + room.lamps and None,
        lambda room, _: room.lamps.index(LAMP) and None,
        lambda room, _: room if isinstance(room, Room) else None,
    ],
    ids=["hash", "slice", "add", "index", "isinstance"],
)
def test_what_views_cannot_do_is_the_models_mistake(step: Any) -> None:
    with pytest.raises(ModelError, match=r"values\.py"):
        fast.check(Toy(ROOM, {"look": step}), [])


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_a_property_that_can_tell_a_view_from_a_state(kind: Kind) -> None:
    """Nothing can keep it from asking for its argument's type, but a spot check finds that the answers differ."""
    curious = prop(kind, lambda room: type(room) is Room)
    with pytest.raises(ModelError, match=r"does something else with a view of a state than with the state itself"):
        fast.check(Toy(ROOM, {}), [curious])
