"""What a search knows besides its states, as JSON: enough to go on as if it had never stopped.

Rows and fingerprints depend on how values were numbered, and on the order in which random numbers were drawn for them. So
that is kept. Footprints are not: they are learned again. But the proof that no run returns (`ranking.py`) needs every move ever
seen, so moves are kept too.
"""

from __future__ import annotations

from typing import Any

from farref.model.checker.columns import Columns
from farref.model.checker.disk import leaves
from farref.model.checker.interface import Action, Counterexample
from farref.model.checker.outcomes import Outcomes
from farref.model.checker.ranking import Move
from farref.model.checker.run import Run

Json = dict[str, Any]


def columns_written(columns: Columns) -> Json:
    """Tell how values are numbered and packed."""
    return {
        "values": [[leaves.written(value) for value in values] for values in columns.values],
        **{name: getattr(columns, name) for name in ("word", "offset", "mask", "written", "used")},
    }


def read_columns(columns: Columns, saved: Json) -> None:
    """Number and pack values as before."""
    columns.values = [[leaves.read(value) for value in values] for values in saved["values"]]
    columns.codes = [{value: code for code, value in enumerate(values)} for values in columns.values]
    for name in ("word", "offset", "mask", "written", "used"):
        setattr(columns, name, saved[name])


def drawn_written(outcomes: Outcomes) -> list[tuple[int, int]]:
    """Tell for which values random numbers were drawn, in order."""
    return [(leaf, outcomes.columns.codes[leaf][value]) for leaf, value in outcomes.drawn]


def draw_again(outcomes: Outcomes, saved: list[tuple[int, int]]) -> None:
    """Draw the same random numbers for the same values."""
    for leaf, code in saved:
        outcomes.draw((leaf, outcomes.columns.values[leaf][code]))


def moves_written(moves: list[Move]) -> list[Any]:
    """Tell what actions were seen to do."""
    return [[move.action, sorted(move.reads.items()), move.changes] for move in moves]


def read_moves(saved: list[Any]) -> list[Move]:
    """Read what actions were seen to do."""
    return [
        Move(action, dict(reads), tuple((column, old, new) for column, old, new in changes))
        for action, reads, changes in saved
    ]


def run_written(run: Run) -> Json:
    """Tell what was counted and found."""
    number = {action: place for place, action in enumerate(run.actions)}
    found = run.counterexamples.items()
    return {
        **{name: getattr(run, name) for name in ("distinct", "generated", "depth", "fired")},
        "witnesses": {id_: [number[one] for one in actions] for id_, actions in run.witnesses.items()},
        "broken": {id_: [one.case, [number[each] for each in one.actions], one.loop_start] for id_, one in found},
    }


def read_run(run: Run, saved: Json) -> None:
    """Go on counting."""
    properties = {one.id: one for one in run.properties}
    for name in ("distinct", "generated", "depth", "fired"):
        setattr(run, name, saved[name])
    run.witnesses = {id_: _actions(run, numbers) for id_, numbers in saved["witnesses"].items()}
    run.counterexamples = {
        id_: Counterexample(properties[id_], case, _actions(run, numbers), loop)
        for id_, (case, numbers, loop) in saved["broken"].items()
    }


def _actions(run: Run, numbers: list[int]) -> tuple[Action, ...]:
    return tuple(run.actions[number] for number in numbers)
