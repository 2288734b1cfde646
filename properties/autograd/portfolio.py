"""The standard portfolio of distributed autograd, small to large: graphs that are about something, and what may go wrong.

Every two switches (a second pass, each fault, a crash, a broken link, an exclusion, SMART, recording, release, detached calls)
are on together in some configuration, which a test checks. Each graph is there for what only it can show.
"""

from __future__ import annotations

from typing import Final

from farref.model.autograd.world import Bounds
from farref.properties.protocol import Configuration

SWITCHES: Final = (
    *("drops", "duplicates", "timeouts", "failures", "crashes", "cuts", "exclusions"),
    *("smart", "forward", "release", "detached"),
)
"""What a configuration can turn on, beside a second pass."""

PORTFOLIO: Final = (
    Configuration(
        "every graph, FAST", Bounds(workers=2, pairs=1, passes=2, timeouts=1, failures=1), "every graph with one pair"
    ),
    Configuration(
        "every graph, SMART",
        Bounds(workers=3, pairs=1, passes=2, timeouts=1, smart=True),
        "every graph with one pair over three workers",
    ),
    Configuration(
        "unused result",
        Bounds("unused-result", passes=2, drops=1, duplicates=1, timeouts=1),
        "FAST names what it waits for",
    ),
    Configuration(
        "a root dies",
        Bounds("two-starters", passes=2, crashes=1, smart=True),
        "a root that is not the creator, and the other root's next pass",
    ),
    Configuration(
        "the creator dies",
        Bounds("AB AC CB CB: B>r2 s2>C s3>C", passes=2, drops=1, crashes=1, smart=True),
        "a root that is not the creator, and a third worker that may be told of the death before it",
    ),
    Configuration(
        "a farewell",
        Bounds("AB AC CB: B>r2 s2>C", crashes=1, release=True),
        "a root that hears only from the creator, as the context ends, that a worker is dead",
    ),
    Configuration(
        "hidden path",
        Bounds("hidden-path", drops=1, timeouts=1, smart=True),
        "a gradient comes late, by way of a third worker that waits in vain",
    ),
    Configuration(
        "a worker dies",
        Bounds("relay", drops=1, crashes=1),
        "any of three workers, at any time in a pass over all of them",
    ),
    Configuration(
        "a root is excluded",
        Bounds("two-starters", passes=2, cuts=1, exclusions=1, smart=True),
        "a root that is excluded by mistake and goes on, and the other root's next pass",
    ),
    Configuration(
        "links break among members",
        Bounds("there-and-back", detached=1, cuts=1, exclusions=1, smart=True, forward=True, release=True),
        "calls that wait on a broken link, of a worker that may be excluded meanwhile",
    ),
    Configuration(
        "a farewell among members",
        Bounds("AB BC: A>A", cuts=1, exclusions=1, forward=True, release=True),
        "a worker that is told to forget before it has heard who is excluded",
    ),
    Configuration(
        "a worker is excluded",
        Bounds("relay", drops=1, timeouts=1, exclusions=1),
        "any of three workers, which goes on in a pass over all of them",
    ),
    Configuration(
        "relay, released",
        Bounds("relay", passes=1, failures=1, smart=True, forward=True, release=True),
        "a context over three workers is released at any time",
    ),
    Configuration(
        "forward and release",
        Bounds("there-and-back", drops=1, duplicates=1, timeouts=1, failures=1, detached=1, forward=True, release=True),
        "calls that meet passes and the end of their context",
    ),
    Configuration(
        "there and back",
        Bounds("there-and-back", passes=2, drops=1, duplicates=1, timeouts=1, failures=1),
        "a call with arguments and a result, with every fault of the network",
    ),
    Configuration(
        "two starters",
        Bounds("two-starters", passes=2, duplicates=1, timeouts=1, smart=True),
        "two roots at the same time",
    ),
    Configuration(
        "a worker dies, released",
        Bounds("relay", crashes=1, forward=True, release=True),
        "a release that has to find workers whom only the dead knew",
    ),
    Configuration(
        "diamond",
        Bounds("diamond", passes=2, drops=1, duplicates=1, timeouts=1, failures=1),
        "two results that share a parameter, where an earlier pass left half of its gradients behind",
    ),
    Configuration(
        "half used",
        Bounds("half-used", passes=2, drops=1, duplicates=1, timeouts=1, failures=1, smart=True),
        "SMART finds out that one of two results is unused, while the root itself waits for a gradient",
    ),
    Configuration(
        "two passes, released",
        Bounds("relay", passes=2, smart=True, detached=1, forward=True, release=True),
        "a second pass over what was recorded since the first, and a call that was not recorded",
    ),
    Configuration(
        "a worker dies among faults",
        Bounds("relay", duplicates=1, timeouts=1, failures=1, crashes=1),
        "a death that meets a copy, a timeout or an exception",
    ),
    Configuration(
        "a worker dies, detached",
        Bounds("there-and-back", detached=1, crashes=1, smart=True, forward=True, release=True),
        "a death where only some of the calls were recorded",
    ),
    Configuration(
        "every loss",
        Bounds("chain", passes=2, drops=1, duplicates=1, timeouts=1, failures=1, crashes=1, cuts=1, exclusions=1),
        "a death, an exclusion and a broken link among all faults of the network",
    ),
    Configuration(
        "a worker is excluded, released",
        Bounds("relay", exclusions=1, forward=True, release=True),
        "a context over three workers, of which one is excluded and goes on calling",
    ),
    Configuration("relay", Bounds("relay", passes=2, timeouts=1, failures=1), "A calls B, which calls C"),
    Configuration(
        "two returns",
        Bounds("two-returns", passes=2, timeouts=1, failures=1),
        "an error in one branch, and the other late",
    ),
)
