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

PASSES: Final = Link(
    "passes",
    tuple(one for one in autograd.PORTFOLIO if not one.bounds.crashes and not one.bounds.release),
    passes.LinkedModel,
    passes.properties,
)
"""Without deaths and releases, which the theorem leaves out."""

RELEASE: Final = Link(
    "release",
    tuple(one for one in autograd.PORTFOLIO if one.bounds.release and not one.bounds.crashes),
    releases.LinkedModel,
    releases.properties,
)
"""Without deaths, which the theorem leaves out."""

LINKS: Final = (RREF, PASSES, RELEASE)
