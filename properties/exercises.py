"""The protocols that can be exercised."""

from __future__ import annotations

from typing import Any, Final

from farref.properties.autograd.exercise import AUTOGRAD_EXERCISE
from farref.properties.exercise import Exercise
from farref.properties.rref_exercise import RREF_EXERCISE
from farref.properties.subject import subject_of

EXERCISES: Final = {one.about.name: one for one in (RREF_EXERCISE, AUTOGRAD_EXERCISE)}
"""Each by the name of its protocol."""


def exercise_of(bounds: Any) -> Exercise:
    """Find the protocol that some bounds are about."""
    return EXERCISES[subject_of(bounds).name]
