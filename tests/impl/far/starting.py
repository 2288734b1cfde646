"""Functions that print, or start programs, on other workers."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

SIGNALS: Final = """
import signal
for one in (signal.SIGINT, signal.SIGTERM):
    print("ignored" if signal.getsignal(one) is signal.SIG_IGN else "default")
"""


def say(text: str) -> None:
    print(text)


def signals_of_a_program() -> list[str]:
    """Say what becomes of Ctrl-C and of a polite request to end in a program that this worker starts."""
    return subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, text=True, check=True).stdout.split()
