"""Functions whose values and errors cannot be written as they are."""

from __future__ import annotations

from dataclasses import dataclass
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


class SelfInterruptingError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class Nameless(type):
    @property
    def __module__(cls) -> str:  # type: ignore[override]
        raise SystemExit


class NamelessError(Exception, metaclass=Nameless):
    pass


class AnnotatedError(Exception):
    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]
        raise RuntimeError("no notes")


class ClosedError(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("ask me nothing")


class Letters(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError("uncounted")


class UncountedError(Exception):
    def __str__(self) -> str:
        return Letters("letters")


@dataclass
class Hidden:
    """It shows its field to nobody."""

    field: int = 1

    def __getattribute__(self, name: str) -> Any:
        if name == "field":
            raise KeyboardInterrupt
        return object.__getattribute__(self, name)


@dataclass(eq=False)
class Unhashable:
    """It may travel, but not in a set."""

    is_at_home: bool = True

    def __hash__(self) -> int:
        if not self.is_at_home:
            raise RuntimeError("no hash")
        return 1


class Classless:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise SystemExit


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


def fail_interrupted() -> None:
    raise SelfInterruptingError


def fail_nameless() -> None:
    raise NamelessError


def fail_annotated() -> None:
    raise AnnotatedError


def fail_closed() -> None:
    raise ClosedError


def fail_uncounted() -> None:
    raise UncountedError


def hidden() -> Hidden:
    return Hidden()


def classless() -> Classless:
    return Classless()


def unhashable() -> set[Unhashable]:
    """A set of what loses its hash before it travels, and so cannot be put together again."""
    one = Unhashable()
    several = {one}
    one.is_at_home = False
    return several


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
