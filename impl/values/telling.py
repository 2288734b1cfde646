"""What is told of an error of the application, whatever its class does.

To ask an error for its text runs code of its class, which may fail in its turn, and with anything. Somebody waits to be told
all the same. So nothing here raises: what cannot be asked for is left out, and the text says so.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from typing import Final

SHORT: Final = 1000

# As a metaclass, or a class, may have names of its own for these.
_name: Final = type.__dict__["__name__"].__get__
_qualified: Final = type.__dict__["__qualname__"].__get__
_module: Final = type.__dict__["__module__"].__get__
_frames: Final = BaseException.__dict__["__traceback__"].__get__


def class_of(error: BaseException) -> tuple[str, str]:
    """Say in which module a class is, and what it is called."""
    kind = type(error)
    return _text(_module(kind)), _text(_qualified(kind))


def message_of(error: BaseException) -> str:
    """Say what an error says."""
    try:
        return _text(str(error))
    except BaseException as failed:
        return f"it cannot say what it is: {_name(type(failed))}"


def traceback_of(error: BaseException) -> str:
    """Say where an error comes from, with its causes; without them where they cannot be asked for."""
    try:
        return _text("".join(traceback.format_exception(error)))
    except BaseException:
        return "".join(["Traceback (most recent call last):\n", *traceback.format_tb(_frames(error)), in_short(error)])


def in_short(error: BaseException) -> str:
    """Say what an error is, with few words."""
    return writable(f"{_name(type(error))}: {message_of(error)}", SHORT)


def complain(error: BaseException, what: str = "") -> None:
    """Print an error of which nobody else can be told. Where nothing can be printed, nobody is."""
    with suppress(Exception):
        print(f"{what}{traceback_of(error)}", file=sys.stderr)


def writable(text: str, most: int) -> str:
    """Give a text that every worker can be told: its beginning and its end if it is long, without what is no character."""
    half = most // 2
    shown = text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"
    return shown.encode("utf-8", "replace").decode()


def _text(given: object) -> str:
    """Give a text that is a `str` and nothing derived from it, as that may behave in any way."""
    return str.__str__(given) if isinstance(given, str) else f"a {_name(type(given))} instead of a text"
