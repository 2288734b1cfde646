"""All engines, in the order in which they are asked: those that need no run first, those that need most time last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from farref.zookeeping import driven, examples, judged, modelled
from farref.zookeeping.outcome import Engine

ALL: Final = (*modelled.ENGINES, examples.ENGINE, *driven.ENGINES, *judged.ENGINES)
ENGINES: Final[Mapping[str, Engine]] = {one.name: one for one in ALL}
"""Each by its name."""
