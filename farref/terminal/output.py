"""What is printed, and what becomes of it when nobody can read it. How a command ends does not depend on its readers."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import click

from farref.words import visible

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH: Final = 120


def put(text: str) -> None:
    """Print a text. A reader that has left is no fault: it has read what it wanted."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "the output is closed")
    try:
        click.echo(text)
    except BrokenPipeError:
        discard()


def remark(message: str) -> None:
    """Say something on stderr that is not the result."""
    with suppress(OSError):
        click.echo(f"farref: {visible(message)}", err=True)


def discard() -> None:
    """Send what is left of the output nowhere, so that Python does not try again, and fail again, as it ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def page() -> Iterator[Console]:
    """Give a console to fill, and print it as a whole, without the blanks that only fill up its tables."""
    from rich.console import Console  # only here: the help needs none of it

    width = None if sys.stdout is not None and sys.stdout.isatty() else PIPED_WIDTH  # a pipe has no width of its own
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        yield console
    put("\n".join(line.rstrip() for line in captured.get().removesuffix("\n").split("\n")))
