"""The step verbs: what a backend offers that can hold its messages, in order to be driven beside the model (R33.lockstep).

A backend declares them all with `lockstep`. After a `start` with the option `lockstep` nothing happens by itself: no message
arrives, no function ends, no timer expires. Each verb is one step, and is done when it returns. `look` shows everything.

**Ids.** The backend's own ids are used, as texts that never mean two things (R2). A reference is an RRef's id and a fork's
id; the fork is null where the worker owns the RRef. A message under way has a number or a text of its own. The same steps
should give the same ids, so that a story can be told again.

**The application.** A function that computes a value runs until it is told to `finish`. One that is called keeps the
reference that it is given; if its worker owns it, it waits there for the value (R21). What was returned is kept as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

STEPS: Final = ("begin", "deliver", "copy", "lose", "fail", "expire", "look")
"""The step verbs."""

LOCKSTEP: Final = "lockstep"
"""The capability, and the option of `start`."""

BEGINNINGS: Final = {
    "create": "call `remote()` on the worker `to`, which may be itself (R10, R12); gives `{rref, fork}`",
    "wrap": "make an RRef of a value of its own (R13); gives `{rref, fork: null}`",
    "finish": "let the function end that computes the value of `rref`, which it owns (R23)",
    "pass": "pass the reference to a function on the worker `to`, in a `Call` (R14 to R19); gives `{fork}`, the new one's id",
    "give": "return the reference to the worker `to`, which has called for it, in a `Return`; gives `{fork}`",
    "fetch": "ask for the value of the reference (R20); do not wait for it",
    "let go": "let go of all handles that it has of the reference (R22, R26)",
    "leave": "begin nothing new from now on (R32)",
}
"""What the application of a worker can `begin`. What it may not begin, it is refused: the verb fails as `refused`."""

TIMERS: Final = {
    "creation": "the creation of the fork takes too long (R27)",
    "fetch": "every fetch of the fork takes too long (R20, R27)",
    "ForkRequest, ChildAccept, UserDelete, CreateFailed": "this control message about the fork is sent again (R6)",
}
"""What can `expire`."""

MessageId: TypeAlias = int | str


class Stepped(Protocol):
    """The step verbs of an adapter."""

    def begin(
        self, worker: str, what: str, rref: str | None, fork: str | None, to: str | None
    ) -> Mapping[str, Any] | None:
        """Let the application of a worker do something with a reference; `what` is in the next table."""

    def deliver(self, message: MessageId) -> None:
        """Let a message that is under way arrive."""

    def copy(self, message: MessageId) -> None:
        """Let a message arrive, and keep it under way."""

    def lose(self, message: MessageId) -> None:
        """Let a message never arrive."""

    def fail(self, message: MessageId, by: str) -> None:
        """Let a call fail. By `transport`: its sender is told now (R3). By `receiver`: it arrives and cannot be read (R28)."""

    def expire(self, worker: str, timer: str, rref: str, fork: str) -> None:
        """Let a timer of a worker expire that is about a fork."""

    def look(self) -> Mapping[str, Any]:
        """Show every message under way, and the tables of every worker."""


class LookedMessage(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}):
    """A message under way."""

    id: MessageId
    kind: str
    """As in R4 and R5: `RemoteCall`, `ForkRequest`, `Ack` and so on."""
    source: str
    target: str
    fork: str | None = None
    """The fork that it is about. An `Ack` names none."""
    number: int | None = None
    """Of a control message its sequence number; of an `Ack` that of the message that it answers (R7)."""


class LookedEntry(msgspec.Struct, frozen=True):
    """An entry of an owner (R8)."""

    rref: str
    value: Literal["absent", "expected", "created", "ready"]
    forks: dict[str, str] = {}
    """The forks that are counted, each with the worker that holds it."""
    running: bool = False
    held: bool = False
    waiting: bool = False
    """Whether its function runs, code on the owner holds it, and code on the owner waits for the value."""
    fetches: tuple[str, ...] = ()
    """The forks whose fetch is parked."""


class LookedUser(msgspec.Struct, frozen=True):
    """A record of a user (R9)."""

    fork: str
    rref: str
    confirmed: bool
    handle: Literal["none", "parked", "held", "timed out"]
    """`parked` while the call that brings it waits (R16); `timed out` if its creation took too long (R27)."""
    fetch: Literal["none", "waiting", "abandoned"] = "none"
    children: dict[str, str] = {}
    """Its children that have not accepted, each with the worker that it is meant for."""


class LookedUnanswered(msgspec.Struct, frozen=True, rename={"target": "to"}):
    """A control message that has no answer yet."""

    kind: str
    fork: str
    target: str


class LookedWorker(msgspec.Struct, frozen=True):
    """All tables of a worker."""

    owned: tuple[LookedEntry, ...] = ()
    users: tuple[LookedUser, ...] = ()
    unanswered: tuple[LookedUnanswered, ...] = ()
    dropped: tuple[str, ...] = ()
    """The RRefs that it owned and whose value it has dropped since the start."""
    leaving: bool = False


class Looked(msgspec.Struct, frozen=True):
    """What `look` gives."""

    messages: tuple[LookedMessage, ...]
    workers: dict[str, LookedWorker]


def look_schema() -> dict[str, Any]:
    """Give the JSON Schema of what `look` gives."""
    return msgspec.json.schema(Looked)
