"""Logs of real runs, as commands read them."""

from __future__ import annotations

from pathlib import Path

import click

from farref.properties.logs.format import Log, LogError, read_logs
from farref.terminal.files import read


def read_log(paths: tuple[str, ...]) -> Log:
    """Read the logs of a world; a folder stands for all logs in it."""
    try:
        return read_logs((path, read(path)) for path in _files(paths))
    except LogError as error:
        raise click.UsageError(str(error)) from error


def _files(paths: tuple[str, ...]) -> list[str]:
    """List the files that are meant; of a folder, all logs in it."""
    files: list[str] = []
    for path in paths:
        found = sorted(map(str, Path(path).glob("*.jsonl"))) if Path(path).is_dir() else [path]
        if not found:
            raise click.UsageError(f"{path} is a folder without logs, files that end in .jsonl")
        files += found
    return files


def is_log(path: str) -> bool:
    """Say whether a log is meant: a folder, or a file with the ending of logs."""
    return Path(path).is_dir() or path.endswith(".jsonl")
