"""Classes whose values travel by name."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum
from typing import Any, NamedTuple

from farref.impl.tape import Tensor

MADE: list[str] = []
"""What constructors have run here."""


@dataclass
class Job:
    name: str
    parts: list[Any] = field(default_factory=list)
    size: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        MADE.append(self.name)
        self.size = len(self.parts)


@dataclass(frozen=True, slots=True)
class Place:
    x: int
    y: int


@dataclass
class Batch:
    inputs: Tensor
    scale: float


@dataclass
class Odd(dict):  # type: ignore[type-arg]
    """A dataclass that cannot be put together from its fields alone."""

    x: int = 0


class Undecorated(Place):
    """What it has beyond the fields of its parent nobody knows."""


class Color(Enum):
    RED = "red"
    BLUE = (1, 2)


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Rights(Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Point(NamedTuple):
    x: float
    y: float


Pair = namedtuple("Pair", "left right")


def echo(value: Any) -> Any:
    return value


def made() -> list[str]:
    return MADE


def apply(function: Any, *args: Any) -> Any:
    return function(*args)


def scaled(batch: Batch) -> Batch:
    return Batch(batch.inputs * batch.scale, 1.0)


class Hidden:
    """An enumeration and a dataclass that no other worker can find."""

    @staticmethod
    def make() -> Any:
        @dataclass
        class Local:
            x: int

        return Local(1)
