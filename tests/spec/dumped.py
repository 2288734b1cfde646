"""What TLC writes of a search with `-dump dot`: every state, and every step from one to another."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


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


def _unescaped(label: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label)
