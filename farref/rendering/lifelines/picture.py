"""What is to be drawn of a run between workers, before it has a place on paper."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from farref.rendering import svg


class Tone(Enum):
    """What a mark is like, as a colour."""

    PLAIN = svg.BLUE
    QUIET = svg.GREY
    ODD = svg.VIOLET
    ALARM = svg.RED
    OWN = svg.INK


@dataclass(frozen=True)
class Lane:
    """A worker, and what is written below its name."""

    name: str
    note: str = ""


@dataclass(frozen=True)
class Box:
    """Something that happens on one worker, or on all of them if none is named."""

    lane: str | None
    label: str
    tone: Tone = Tone.OWN


@dataclass(frozen=True)
class Arrow:
    """A message. `since` is the row in which it was sent; one that is lost arrives nowhere."""

    source: str
    target: str
    label: str
    tone: Tone = Tone.PLAIN
    since: int | None = None
    dashed: bool = False
    lost: bool = False


@dataclass(frozen=True)
class Stub:
    """A message that is still under way at the end."""

    source: str
    target: str
    label: str


Mark = Box | Arrow | Stub


@dataclass(frozen=True)
class Row:
    """One step: its number and sentence, what happened, and what is to be known after it."""

    number: str
    text: str
    marks: tuple[Mark, ...]
    alarm: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """Everything that is to be drawn. The ending stands in a box below, its first line in red if it is an alarm."""

    title: str
    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    ending: tuple[str, ...] = ()
    alarm: bool = False
    width_min: float = 480.0
    is_titled: bool = True
    """Whether the title stands above the drawing, or is only there to be read aloud."""
