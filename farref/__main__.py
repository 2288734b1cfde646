"""`farref` and `python -m farref`."""

from __future__ import annotations

import io
import os
import signal
import sys

from farref.terminal.exits import HARNESS, UNDECIDED
from farref.terminal.interrupts import ignore


def main() -> None:
    """Run the command line. A polite kill is taken for Ctrl-C, and either may come while modules are still imported."""
    if os.name != "posix":
        print("farref: this system is not enough like Unix; on Windows use farref in WSL", file=sys.stderr)
        sys.exit(HARNESS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ✓ shows something else
    try:
        from farref.cli import cli

        cli(prog_name="farref")
    except KeyboardInterrupt:
        print("farref: interrupted", file=sys.stderr)
        sys.exit(UNDECIDED)
    finally:
        ignore()


if __name__ == "__main__":
    main()
