"""Why some creatures survive: an argument for each that nothing kills, or can kill. One without an argument is open.

A guard may be there for speed, for another guard's sake, or against something that cannot come in the worlds that are searched.
An argument is a reading of the source: nothing checks it, and a limit or a race may well be seen by a test that was not asked.
"""

from __future__ import annotations

from typing import Final

LIMIT: Final = "It is a limit: no world that is searched comes near it (`spec/limits.md`)."
GONE: Final = (
    "It is there for a race of the shell, which gives up what has just ended. The twin's application never does that."
)

ARGUMENTS: Final[dict[str, str]] = {
    "core._confirm.2": "It saves time: a fork that is no heir is not among the heirs, and `settle` looks whether one is left.",
    "calls._run.1": "It saves time: a call without references has nothing to wait for, and `Parking.start` starts it at once.",
    "channel._raise_mark.1": "It chooses the faster of two ways that leave the same numbers.",
    "channel._raise_mark.2": "What is below the mark is a copy, remembered or not. It bounds memory, and changes nothing else.",
    "channel.due.1": "In the twin nobody asks what is due: the schedule says which message is sent again.",
    "counts.count.1": LIMIT,
    "counts.check_room.1": LIMIT,
    "counts.check_share.1": LIMIT,
    "counts.discount.1": "Without it the sum of nobody is lowered, and nobody asks for that sum.",
    "user.create_remote.1": LIMIT,
    "user.abandon_fetch.1": GONE,
    "user.abandon_fetch.2": GONE,
    "owner.stop_waiting.1": GONE,
    "owner.stop_waiting.2": "It saves time: whoever does not wait is not in the line, and an entry is settled after each step.",
}
"""By name."""
