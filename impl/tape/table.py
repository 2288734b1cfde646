"""All rules by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from farref.impl.tape.rules import Rule
from farref.impl.tape.rules_elementwise import ARITHMETIC, FUNCTIONS
from farref.impl.tape.rules_reductions import REDUCTIONS
from farref.impl.tape.rules_shapes import SHAPES

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {rule.name: rule for rule in (*ARITHMETIC, *FUNCTIONS, *REDUCTIONS, *SHAPES)}
)
