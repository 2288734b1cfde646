"""The decisions of the thread protocol, as values (`farref.model.rules` says what a rule is).

Each rule is a clause of `spec/threads.md`. `SOUND` follows them all, as `impl/worker/` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.model.rules import Rules, rule


@dataclass(frozen=True)
class ThreadRules(Rules):
    """Which rules are followed. Every field is one rule, on in SOUND."""

    notes_interrupts: bool = rule("H8", "an interrupt of a thread that waits is noted, and raised as the thread leaves")
    looks_after_clearing: bool = rule("H3", "a caller looks whether it is done after it has cleared its event")
    tries_in_line: bool = rule("H3", "a caller that stands in line tries once more to take the role before it sleeps")
    leader_leaves_for_callers: bool = rule("H3", "a background thread that reads leaves the role to a caller in line")
    passes_the_role_on: bool = rule("H3", "whoever gives the role back tells the first caller in line")
    looks_again_when_settled: bool = rule("H4", "a caller that reads is roused when another thread settles its future")
    wakes_for_tasks_of_others: bool = rule("H5", "a task that a thread queues for others wakes one that stands by")
    hands_tasks_over: bool = rule("H5", "a caller that has read a call wakes one that stands by to run it")
    starts_one_more: bool = rule("H6", "the last thread that stands by starts one more before it runs functions")
    outlives_a_failed_start: bool = rule("H6", "a thread goes on where the system refuses to start one more")
    wakes_one_before_running: bool = rule("H7", "whoever runs functions wakes one that stands by, if all are asleep")
    wakes_one_after_reading: bool = rule(
        "H7", "a caller that gives the role back wakes one that stands by, if all are asleep"
    )
    sleeps_only_while_read_for: bool = rule("H7", "the lookout falls asleep only while somebody reads")
    counts_itself_before_it_looks: bool = rule("H7", "a thread is counted among those asleep before it looks who reads")
    rouses_the_reader: bool = rule("H2", "whoever leaves a frame to the reader rouses it")
    forgets_rousing_when_heard: bool = rule("H2", "that the reader was roused is forgotten when it hears of it")
    hears_before_forgetting: bool = rule("H2", "the reader takes the kick before it forgets that it was roused")
    results_rouse_too: bool = rule("H2", "the result of a function that is left to others rouses the reader too")
    lowers_the_hurry_first: bool = rule("H1", "the hurry is lowered before the queue is written, not after")
    looks_for_more_to_write: bool = rule("H1", "whoever has written looks for more after giving the lock back")


SOUND: Final = ThreadRules()

PROFILES: Final = {"sound": SOUND}
RULES: Final = ThreadRules.names()
