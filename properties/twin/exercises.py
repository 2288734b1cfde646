"""The protocols that can be exercised."""

from __future__ import annotations

from typing import Any, Final

from farref.properties.autograd.twin import AUTOGRAD_EXERCISE
from farref.properties.protocol import subject_of
from farref.properties.rref.twin import RREF_EXERCISE
from farref.properties.twin.schedule import Exercise

EXERCISES: Final = {one.about.name: one for one in (RREF_EXERCISE, AUTOGRAD_EXERCISE)}
"""Each by the name of its protocol."""


def exercise_of(bounds: Any) -> Exercise:
    """Find the protocol that some bounds are about."""
    return EXERCISES[subject_of(bounds).name]
