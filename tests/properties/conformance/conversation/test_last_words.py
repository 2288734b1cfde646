"""The stderr of an adapter: its end is kept, and a flood of it neither stops the adapter nor is stored."""

from __future__ import annotations

import subprocess
import sys

from farref.properties.conformance.conversation.last_words import BYTES, LINES, LastWords


def ran(program: str) -> LastWords:
    words = LastWords()
    process = subprocess.Popen([sys.executable, "-c", program], stderr=words.place)
    words.begin()
    assert process.wait(60) == 0
    return words


def test_the_last_lines_are_kept() -> None:
    words = ran("import sys\nfor n in range(100): print('line', n, file=sys.stderr)")
    lines = words.said().split(" / ")
    assert (len(lines), lines[-1]) == (LINES, "line 99")


def test_of_a_flood_only_the_end_is_kept() -> None:
    words = ran(f"import os\nfor _ in range(20): os.write(2, b'x' * {BYTES})\nos.write(2, b'\\nthe end')")
    assert words.said().endswith("x / the end")
    assert len(words.said()) < BYTES + 100


def test_what_was_said_can_be_asked_for_after_the_end() -> None:
    words = ran("import os; os.write(2, b'bye')")
    words.end()
    words.end()
    assert words.said() == "bye"


def test_nothing_was_said() -> None:
    assert ran("").said() == ""
