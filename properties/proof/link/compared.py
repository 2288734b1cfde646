"""What of the proof is compared with what of the model: for each theorem a portfolio, and how to lay one beside the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from farref.model.checker.interface import Model, Property
from farref.properties.autograd import portfolio as autograd
from farref.properties.proof.link import passes, releases, whole
from farref.properties.protocol import Configuration
from farref.properties.rref import portfolio as rref


@dataclass(frozen=True)
class Link:
    """A theorem beside the model, for the checker: the model with what the proof knows besides, and what must hold."""

    name: str
    portfolio: tuple[Configuration, ...]
    model: Callable[[Any], Model]
    properties: Callable[[Any], tuple[Property, ...]]


RREF: Final = Link(
    "rref", tuple(one for one in rref.PORTFOLIO if not one.bounds.exclusions), whole.LinkedModel, whole.properties
)

WITHOUT_LOSSES: Final = [
    one for one in autograd.PORTFOLIO if not (one.bounds.crashes or one.bounds.cuts or one.bounds.exclusions)
]
"""Without deaths, broken links and exclusions, which the theorems of autograd leave out."""

PASSES: Final = Link(
    "passes",
    tuple(one for one in WITHOUT_LOSSES if not one.bounds.release),
    passes.LinkedModel,
    passes.properties,
)
"""Without releases, which the theorem leaves out."""

RELEASE: Final = Link(
    "release",
    tuple(one for one in WITHOUT_LOSSES if one.bounds.release),
    releases.LinkedModel,
    releases.properties,
)

LINKS: Final = (RREF, PASSES, RELEASE)
