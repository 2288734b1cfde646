"""Saved runs, as commands read them."""

from __future__ import annotations

import click

from farref.properties.traces.file import Trace, TraceError, decode
from farref.terminal.files import read


def read_trace(path: str) -> Trace:
    """Read a saved run; it is taken again on the model before anybody believes it."""
    try:
        return decode(read(path))
    except TraceError as error:
        raise click.UsageError(f"{path}: {error}") from error
