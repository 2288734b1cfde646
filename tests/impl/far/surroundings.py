"""What workers of tests say of their surroundings."""

from __future__ import annotations

import os
import sys

import numpy as np

from farref.impl import function


@function
def variable(name: str) -> str | None:
    return os.environ.get(name)


@function
def drawn() -> float:
    return float(np.random.rand())


@function
def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@function
def parent() -> int:
    return os.getppid()
