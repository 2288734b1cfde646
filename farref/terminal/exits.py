"""The exit codes, the same for every command."""

from __future__ import annotations

from typing import Final

OK: Final = 0
"""It holds, agrees or conforms."""

BROKEN: Final = 1
"""Violated, disagreed or broken."""

USAGE: Final = 2
"""What the user gave is wrong."""

HARNESS: Final = 3
"""Something that is needed is missing or failed, so nothing is known."""

UNDECIDED: Final = 4
"""It ended with nothing decided."""
