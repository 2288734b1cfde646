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
    "a_control_message_is_written_twice": (
        "The protocol is made for copies: one that comes again is answered and has no effect (R7). What it costs is a frame."
    ),
    "calls._check_born.1": "It saves time: where no life was shown, `is_unborn` knows of none that has not begun.",
    "calls._objection.5": "It saves time: where no life was shown, `is_unborn` knows of none that has not begun.",
    "calls.objection.1": (
        "It saves time: a message without forks adds none to those that are held, which are never more than may be, and"
        " has none that could be wrong."
    ),
    "calls._run.1": "It saves time: a call without references has nothing to wait for, and `Parking.start` starts it at once.",
    "channel._raise_mark.1": "It chooses the faster of two ways that leave the same numbers.",
    "channel._raise_mark.2": "What is below the mark is a copy, remembered or not. It bounds memory, and changes nothing else.",
    "channel.due.1": "In the twin nobody asks what is due: the schedule says which message is sent again.",
    "counts.count.1": LIMIT,
    "counts.check_room.1": LIMIT,
    "counts.check_share.1": LIMIT,
    "counts.discount.1": "Without it the sum of nobody is lowered, and nobody asks for that sum.",
    "channel.add.1": "It saves time: what is queued waits because the window is full, and so it is for what comes after it.",
    "engine.take.1": "It saves time: where nothing is said to oneself, there is nothing to take.",
    "engaging.worked.3": "It saves time: where nobody is dead, nobody among the dead is spoken to.",
    "engaging.worked.4": "The root says so of itself a step later: `on_report` looks for the dead among those spoken to.",
    "ledger.enter.2": "A mark is counted as a gradient. Marks come after the root has asked for the last time what is missing.",
    "ledger.enter.3": "It is there for the types: what is reported of gradients has a forward id.",
    "ledger.is_at_standstill.2": (
        "What is early was caused by work whose report has not come. So that work is under way, or early itself; the first of"
        " them, which the root began, is under way."
    ),
    "members._give.1": "It is there for the types: only a worker that hosts the authority gives its orders.",
    "members.settle.2": "It is asked once for each view: when that is installed, or else when the last heir is crossed off.",
    "owner.on_peer_died.1": "It saves time: `_check_creator` looks whether the creator is dead.",
    "rref.blind.P4": (
        "A call that waits keeps a record, and P3 finds that record left; G3 finds one that says nothing of its call. It would"
        " be alone only where a record that is gone says that its call waits."
    ),
    "rref.blind.P5": (
        "Whoever waits at the end has a record or an entry: P3 finds it left, P1 and P2 find it gone, G3 finds that it says"
        " nothing of it. It would be alone only where a row that was never made says that somebody waits."
    ),
    "rref.blind.P7": (
        "It says P3 of worlds that shut down, with the same predicates and the same excuses: whatever breaks it breaks P3."
    ),
    "rooting._fail.1": "The root would tell itself to leave a pass that it has just left.",
    "task._colour_what_came.1": "It saves time: while marks are out nothing comes, and nothing is coloured twice.",
    "user._release.2": "The record is an orphan because its owner is dead, and `Channel.send` says nothing to the dead.",
    "user.forget_child.1": "It is there for the types: what has no parent has no parent's record.",
    "user.forget_child.2": "A record that goes takes the rows of its children in `parents` with it.",
    "user.create_remote.1": LIMIT,
    "user.abandon_fetch.1": GONE,
    "user.abandon_fetch.2": GONE,
    "owner.stop_waiting.1": GONE,
    "owner.stop_waiting.2": "It saves time: whoever does not wait is not in the line, and an entry is settled after each step.",
}
"""By name."""
