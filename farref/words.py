"""Words that several pages share."""

from __future__ import annotations

import re
from typing import Final

FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot say at all."""

CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What moves a cursor or rings a bell, but for tabs and the ends of lines."""


def legal(text: str) -> str:
    """Replace what XML cannot say."""
    return FORBIDDEN.sub("\ufffd", text)


def visible(text: str) -> str:
    """Replace what a terminal would obey instead of showing it."""
    return CONTROLS.sub("\ufffd", text)


def counted(number: int, noun: str) -> str:
    """Count some things, in the singular where there is one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def in_a_line(error: BaseException) -> str:
    """Say what an error is, however many lines it has, in one."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def how_to_install(extra: str) -> str:
    """Say how to get what an extra brings: farref is on no package index, so it is installed from its sources."""
    return f"in a checkout of farref: pip install '.[{extra}]'"
