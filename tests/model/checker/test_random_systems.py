"""Both engines on random systems: nested states, footprints that depend on data, cycles of all sorts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from farref.model.checker import fast
from farref.model.checker.interface import Case, Counterexample, Kind, Property
from farref.model.values import IdSet, Table
from tests.model.checker.test_toys import both
from tests.model.checker.toys import Do
from tests.model.play import states


class Hue(Enum):
    RED = 0
    GREEN = 1
    BLUE = 2


class Cell(NamedTuple):
    hue: Hue
    number: int | None
    marks: IdSet


class Board(NamedTuple):
    cells: Table[Cell]
    lit: bool


HUES = tuple(Hue)
PLACES = ("lit", *(f"{part}{cell}" for cell in (0, 1) for part in ("hue", "number", "mark0", "mark1")))
SIZES = {"swap": 1, "lit": 2, "hue": 3, "number": 3, "mark": 2}
NUMBERS = (None, 0, 1)


def get(board: Board, place: str) -> int:
    if place == "lit":
        return int(board.lit)
    cell = board.cells[int(place[-1])]
    if place.startswith("hue"):
        return HUES.index(cell.hue)
    if place.startswith("number"):
        return NUMBERS.index(cell.number)
    return int(int(place[4]) in cell.marks)


def put(board: Board, place: str, value: int) -> Board:
    if place == "swap":
        return board._replace(cells=Table((board.cells[1], board.cells[0])))
    if place == "lit":
        return board._replace(lit=bool(value))
    key = int(place[-1])
    cell = board.cells[key]
    if place.startswith("hue"):
        cell = cell._replace(hue=HUES[value])
    elif place.startswith("number"):
        cell = cell._replace(number=NUMBERS[value])
    else:
        mark = int(place[4])
        cell = cell._replace(marks=cell.marks.add(mark) if value else cell.marks.remove(mark))
    return board._replace(cells=board.cells.put(key, cell))


def size(place: str) -> int:
    return SIZES[place.rstrip("01")]


places = st.sampled_from(PLACES)


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> object:
    """What an action does: look at a place and decide by its value, or write, or refuse (None)."""
    if depth and draw(st.integers(0, 3)):
        place = draw(places)
        return place, tuple(draw(trees(depth - 1)) for _ in range(size(place)))
    if draw(st.integers(0, 2)) == 0:
        return None
    return [
        draw(st.tuples(st.sampled_from((*PLACES, "swap")), st.integers(0, 1))) for _ in range(draw(st.integers(0, 2)))
    ]


def obey(board: Board, tree: object) -> Board | None:
    if tree is None:
        return None
    if isinstance(tree, tuple):
        place, branches = tree
        return obey(board, branches[get(board, place)])
    assert isinstance(tree, list)
    for place, value in tree:
        board = put(board, place, value + (size(place) > 2 and get(board, "lit")))
    return board


def judge(tree: object, board: Board) -> bool:
    while isinstance(tree, tuple):
        place, branches = tree
        tree = branches[get(board, place)]
    return bool(tree)


@dataclass(frozen=True)
class Random:
    rules: tuple[object, ...]

    @property
    def initial(self) -> Board:
        cell = Cell(Hue.RED, None, IdSet((False, False)))
        return Board(Table((cell, cell)), False)

    @property
    def actions(self) -> list[Do]:
        return [Do(f"rule{number % 2}", number) for number in range(len(self.rules))]

    def step(self, state: Board, action: Do) -> Board | None:
        return obey(state, self.rules[action.which])

    def renamings(self) -> tuple[()]:
        return ()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(trees(), min_size=1, max_size=6),
    st.lists(st.tuples(st.sampled_from(Kind), st.lists(trees(), min_size=1, max_size=2)), max_size=3),
    st.booleans(),
    st.sampled_from([2, fast.CHUNK]),
)
def test_the_engines_agree(
    rules: list[object], wanted: list[tuple[Kind, list[object]]], stop: bool, chunk: int
) -> None:
    model = Random(tuple(rules))
    properties = [
        Property(
            f"{kind.value} {number}", "", kind, "", tuple(Case(str(tree), partial(judge, tree)) for tree in judged)
        )
        for number, (kind, judged) in enumerate(wanted)
    ]
    with patch.object(fast, "CHUNK", chunk):
        result = both(model, *properties, stop_at_violation=stop)
    for found in result.counterexamples.values():
        assert breaks(model, found)


def breaks(model: Random, found: Counterexample) -> bool:
    """Take a counterexample's run again, and say whether it shows what it is said to show."""
    run = states(model, found.actions)
    if found.property.kind is Kind.SOMETIMES:
        return found.case == "never reached"  # no run shows that; the engines agree on it
    holds = next(case.holds for case in found.property.cases if case.label == found.case)
    if found.loop_start is not None:
        return run[found.loop_start] == run[-1] and not any(map(holds, run[found.loop_start :]))
    ends = all(model.step(run[-1], action) is None for action in model.actions)
    return not holds(run[-1]) and (ends or found.property.kind is Kind.ALWAYS)
