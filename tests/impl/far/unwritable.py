"""Functions whose values and errors cannot be written as they are."""

from __future__ import annotations

from typing import Any

from farref.impl import Future


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def echo(value: Any) -> Any:
    return value


def no_text() -> str:
    """What a file may be called, and no encoding knows."""
    return "a\udcffb"


def fail_without_text() -> None:
    raise ValueError("a\udcffb")


def fail_speechless() -> None:
    raise SpeechlessError


def fail_at_length() -> None:
    raise ValueError("x" * 100_000_000)


def end_later() -> Future:
    future = Future()
    future.set_exception(SystemExit(1))
    return future
