"""Functions whose values and errors cannot be written as they are."""

from __future__ import annotations

from typing import Any

from farref.impl import Future


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class LonelyError(Exception):
    """It allows nobody to derive from it."""

    def __init_subclass__(cls) -> None:
        raise RuntimeError("no heirs")


class Strict(type):
    """It makes no class with two bases."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if len(bases) > 1:
            raise LookupError("one at a time")
        return super().__new__(cls, name, bases, body)


class StrictError(Exception, metaclass=Strict):
    pass


class MisnamedError(Exception):
    pass


MisnamedError.__qualname__ = "a\udcffb"


class Poisoned:
    """It can be pickled, and not unpickled."""

    def __reduce__(self) -> Any:
        return _refuse, ()


def _refuse() -> None:
    raise RuntimeError("not here")


def poisoned() -> Poisoned:
    return Poisoned()


def fail_lonely() -> None:
    raise LonelyError("no heirs")


def fail_strict() -> None:
    raise StrictError("one at a time")


def fail_misnamed() -> None:
    raise MisnamedError("by another name")


def fail_as_a_group() -> None:
    raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])


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
