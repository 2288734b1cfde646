"""The stories in which workers are lost: who plays which role, and one line for each step, in words that can be driven.

There is a line for each thing that an application does, and for each message that arrives, so that a worker can be lost before
and after any of them. What the words mean on the simulated network is in `words.py`. Others may give them another meaning:
between real processes `A passes x to C` is a call, and `C's ForkRequest to B` is something to wait for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Story:
    """What happens, and who is who."""

    name: str
    roles: dict[str, str]
    """What each worker that can be lost is called, by its letter."""
    steps: tuple[str, ...]


def _story(name: str, roles: dict[str, str], text: str) -> Story:
    return Story(name, roles, tuple(line.strip() for line in text.splitlines() if line.strip()))


CREATED: Final = """
    A creates x on B
    A's RemoteCall to B
    B's UserAccept to A
    B finishes x
"""

LEND: Final = _story(
    "lend",
    {"A": "creator", "B": "owner", "C": "user"},
    CREATED
    + """
    A passes x to C
    A's Call to C
    C's ForkRequest to B
    B's Ack to C
    C's ChildAccept to A
    A's Ack to C
    C fetches x
    C's FetchCall to B
    B's FetchReturn to C
    A drops x
    A's UserDelete to B
    B's Ack to A
    C drops x
    C's UserDelete to B
    B's Ack to C
    """,
)

HEIRS: Final = _story(
    "heirs",
    {"A": "creator", "B": "owner", "C": "parent", "D": "child"},
    CREATED
    + """
    A returns x to C
    A's Return to C
    C returns x to D
    C's Return to D
    A drops x
    C drops x
    D fetches x
    D's FetchCall to B
    B's FetchReturn to D
    D's ForkRequest to B
    B's Ack to D
    D's ChildAccept to C
    C's ForkRequest to B
    B's Ack to C
    C's ChildAccept to A
    C's Ack to D
    C's UserDelete to B
    A's UserDelete to B
    D drops x
    D's UserDelete to B
    """,
)

OVERTAKEN: Final = _story(
    "overtaken",
    {"A": "creator", "B": "owner", "C": "user"},
    """
    A creates x on B
    A returns x to C
    A's Return to C
    C's ForkRequest to B
    B's Ack to C
    C's ChildAccept to A
    C fetches x
    C's FetchCall to B
    A returns x to B
    A's Return to B
    B awaits x
    B's ChildAccept to A
    A's RemoteCall to B
    B's UserAccept to A
    B finishes x
    B's FetchReturn to C
    B drops x
    C drops x
    A drops x
    """,
)

HOME: Final = _story(
    "home",
    {"B": "owner", "C": "user"},
    """
    B makes x
    B passes x to C
    B's Call to C
    C passes x to B
    C's Call to B
    B's ChildAccept to C
    C's Ack to B
    B returns x to B
    B's Return to B
    C returns x to D
    C's Return to D
    D's ForkRequest to B
    B's Ack to D
    B drops x
    B drops x
    B drops x
    D's ChildAccept to C
    C drops x
    D drops x
    C's UserDelete to B
    """,
)

TROUBLE: Final = _story(
    "trouble",
    {"A": "creator", "B": "owner", "C": "user"},
    """
    A creates x on B
    A's RemoteCall to B fails
    A's CreateFailed to B is lost
    A repeats CreateFailed to B
    A's CreateFailed to B
    B's Ack to A
    A passes x to C
    A's Call to C fails
    A passes x to C
    A's Call to C is refused
    C's CallFailed to A
    A returns x to C
    A's Return to C
    C's ForkRequest to B is lost
    C fetches x
    C's FetchCall to B fails
    C repeats ForkRequest to B
    C's ForkRequest to B
    B's Ack to C
    C drops x
    A drops x
    """,
)

CHAIN: Final = _story(
    "chain",
    {"B": "owner", "C": "first in the chain", "D": "second", "E": "third"},
    CREATED
    + """
    A passes x to C
    A's Call to C
    C's ForkRequest to B
    B's Ack to C
    C's ChildAccept to A
    A drops x
    A's UserDelete to B
    C returns x to D
    C's Return to D
    D returns x to E
    D's Return to E
    C drops x
    D drops x
    E's ForkRequest to B
    B's Ack to E
    E's ChildAccept to D
    D's ForkRequest to B
    B's Ack to D
    D's ChildAccept to C
    """,
)
"""Two are lost in this one, one after the other: the second before it has settled the view in which the first is excluded."""

REFERENCES: Final = (LEND, HEIRS, OVERTAKEN, HOME, TROUBLE, CHAIN)

PASSES: Final = {
    "pass": {"A": "root", "B": "middle of the pass", "C": "end of the pass"},
    "unused": {"A": "root", "B": "middle of the pass", "C": "end of the pass"},
    "other root": {"A": "creator of the context", "B": "root", "C": "end of the pass"},
    "aborted": {"A": "root", "B": "middle of the pass", "C": "end of the pass"},
    "release": {"A": "creator of the context", "B": "middle of the pass", "C": "end of the pass"},
}
"""The stories of passes. Their steps are all messages and all work of a run, in the order in which they come (`passes.py`)."""
