"""Numbers as commands take them. Whatever else is given, the answer says what is allowed."""

from __future__ import annotations

from math import nan
from typing import Any

import click


class WholeNumber(click.IntRange):
    """A whole number within limits."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            upwards = "upwards" if self.max is None else f"to {self.max:g}"
            self.fail(f"{value!r} is not a whole number from {self.min} {upwards}", param, ctx)


class Seconds(click.FloatRange):
    """A number of seconds that ends some day; `nan` and `inf` do not."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=1e6)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number."""
        try:
            seconds = float(super().convert(value, param, ctx))
        except click.BadParameter:
            seconds = nan
        if seconds != seconds:
            self.fail(f"{value!r} is not a number of seconds above 0, up to {self.max:,.0f}", param, ctx)
        return seconds
