"""Saved runs, as commands read them."""

from __future__ import annotations

import click

from farref.properties.proof.induction.tell import Told
from farref.properties.proof.saved import SavedError, is_saved
from farref.properties.proof.saved import decode as decode_saved
from farref.properties.traces.file import Trace, TraceError, decode
from farref.properties.traces.itf import from_itf, is_itf
from farref.terminal.files import read


def read_counterexample(path: str) -> Trace | Told:
    """Read a saved run, or a saved counterexample to induction. Neither is believed before it is looked at again."""
    content = read(path)
    if not is_saved(content):
        return read_trace(path)
    try:
        return decode_saved(content)
    except SavedError as error:
        raise click.UsageError(f"{path}: {error}") from error


def read_trace(path: str) -> Trace:
    """Read a saved run, in our format or in ITF; it is taken again on the model before anybody believes it."""
    content = read(path)
    try:
        return from_itf(content) if is_itf(content) else decode(content)
    except TraceError as error:
        raise click.UsageError(f"{path}: {error}") from error
