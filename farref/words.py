"""Words that several pages share."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Count some things, in the singular where there is one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
