"""What every creature of the zoo has to say for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CLAUSE: Final = "the clause"
"""A mistake that somebody could make who builds a backend from the clause."""
REVIEW: Final = "a review"
"""Somebody asked for it who looked for what nothing catches."""
PYTORCH: Final = "PyTorch "
"""Followed by the name of a finding, as N1, or the number of an issue."""
RAY: Final = "Ray "
RMI: Final = "Java RMI "
"""Followed by where it is told (`mutants/history.py`)."""
TWINS: Final = {"rref": "farref fuzz rref", "autograd": "farref fuzz autograd"}
"""What drives the implementation beside the model, by protocol."""
STORM: Final = "farref fuzz rref --backend storm"
"""What drives it through what no model takes."""
CRASHES: Final = "farref crashes"
"""What loses a worker at every point of some stories."""
PROCESSES: Final = "farref fuzz rref --backend processes"
"""What drives real processes beside the model."""
MACHINERY: Final = (*TWINS.values(), STORM, CRASHES, PROCESSES)
"""All of them: whatever else catches a creature is a check of the kit."""


@dataclass(frozen=True, kw_only=True)
class Creature:
    """Something that is wrong in one way."""

    name: str
    says: str
    """What is wrong with it, in a sentence."""
    clause: str
    """The clause that it breaks."""
    origin: str
    """Where the idea comes from: `CLAUSE`, `REVIEW`, or a system and what was found in it."""
    caught_by: tuple[str, ...]
    """What must catch it: one of `MACHINERY`, and checks of the kit by their ids."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks of the kit that must catch it."""
        return tuple(one for one in self.caught_by if one not in MACHINERY)


def sentence_of(described: object) -> str:
    """Give the first line of what somebody wrote about a creature."""
    return (described.__doc__ or "").strip().splitlines()[0]
