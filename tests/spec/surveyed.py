"""What an engine found in all states of a world, ours or TLC."""

from __future__ import annotations

import re
from typing import NamedTuple

from farref.model.checker.interface import Result, Verdict
from farref.tlc.engine import Listener


class Found(NamedTuple):
    """How many states, steps and levels there are, and which properties are broken somewhere."""

    distinct: int
    generated: int
    depth: int
    broken: frozenset[str]


def found(result: Result) -> Found:
    """What one of our engines found."""
    broken = frozenset(name for name, verdict in result.verdicts.items() if verdict is Verdict.VIOLATED)
    return Found(result.distinct, result.generated, result.depth, broken)


def surveyed(listener: Listener) -> Found:
    """What TLC found and printed in a survey that it finished."""
    run, said = listener.run, "".join(listener.said)
    assert run.complete, said
    return Found(run.distinct, run.generated, run.depth, frozenset(re.findall(r'<<"broken", "(\w+)">>', said)))
