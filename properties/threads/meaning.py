"""What a violated property means to somebody who runs into it, in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from farref.properties.traces.story import THE_END, Meaning

MEANINGS: Final[Mapping[str, Meaning]] = {
    "E1": "a lock is taken, and the thread that took it has left: no other thread will ever have it.",
    "E2": "nobody reads, and nobody will until a time limit runs out: the worker is deaf.",
    "E3": "the answer is there, and the thread that waits for it sleeps on until a time limit runs out.",
    "E4": "a frame is queued, and nobody will write it until a time limit runs out: its receiver waits.",
    "E5": "a function is queued, and no thread will run it until a time limit runs out: its caller waits.",
    "E6": "a thread that could read for itself sleeps while the background reads: its answer costs one more wake-up.",
    "E7": "a background thread has ended, and nobody takes its place: when the last one has, the worker is deaf.",
    "E8": f"{THE_END}, and a caller has not come back from its call: it hangs.",
}
