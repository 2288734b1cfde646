"""What TLC writes of a search with `-dump dot`: every state, and every step from one to another."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NamedTuple

from farref.model.checker.interface import Model
from tests.model.play import reachable, successors


class Dumped(NamedTuple):
    """The states by TLC's numbers for them, each as TLC prints it, and the pairs of states between which there is a step."""

    states: dict[str, str]
    steps: set[tuple[str, str]]


def read_dump(path: Path) -> Dumped:
    """Read a graph that TLC has written."""
    text = path.read_text()
    states = re.findall(r'^(-?\d+) \[label="((?:[^"\\]|\\.)*)"', text, re.MULTILINE)
    steps = re.findall(r"^(-?\d+) -> (-?\d+) ", text, re.MULTILINE)
    return Dumped({number: _unescaped(label) for number, label in states}, set(steps))


def assert_same_graph(
    path: Path, model: Model, read: Callable[[str], Hashable], twin_of: Callable[[Any], Hashable]
) -> None:
    """Fail unless every state that TLC has written is one state of a model, and every step is one of its steps."""
    dumped = read_dump(path)
    states = {number: read(text) for number, text in dumped.states.items()}
    twins = {world: twin_of(world) for world in reachable(model)}
    assert len({*twins.values()}) == len(twins) == len(states)
    assert {*states.values()} == {*twins.values()}
    steps = {(twins[world], twins[after]) for world in twins for after in successors(model, world)}
    assert {(states[one], states[other]) for one, other in dumped.steps} == steps


def _unescaped(label: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label)
