"""What can happen in a storm, one move at a time, as values that are drawn, told, left out and saved.

Moves name things by the move that made them: x3 is the RRef that move 3 created, f3 its creator's fork, c5 the call of move 5,
f5.0 and f5.1 the forks that it carries, r6 a result, q7 a fetch and w8 a wait. So a name means the same thing if other moves
are left out. A handle has the name of its fork; on the owner, that of its RRef. Messages are named by their kind and by
what they are about, as in Call(c5) and Ack(UserDelete(f5.0)).
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from farref.model.ids import WorkerId, worker_name

Names: TypeAlias = tuple[str, ...]


class Base(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """What all moves have in common: they are values, and are saved with their names."""


class CreateLocal(Base, frozen=True):
    """Code makes an RRef of a value that holds references."""

    number: int
    worker: int
    holds: Names


class CreateOnSelf(Base, frozen=True):
    """Code calls `remote()` on its own worker."""

    number: int
    worker: int


class CreateRemote(Base, frozen=True):
    """Code calls `remote()` on another worker, with references among the arguments."""

    number: int
    worker: int
    owner: int
    cargo: Names


class Finish(Base, frozen=True):
    """The function that computes a value ends, with a value that holds references, or with an error."""

    rref: str
    holds: Names
    failed: bool


class Call(Base, frozen=True):
    """Code passes references to a function."""

    number: int
    worker: int
    target: int
    cargo: Names


class Reply(Base, frozen=True):
    """Code returns references to a caller."""

    number: int
    worker: int
    target: int
    cargo: Names


class LetGo(Base, frozen=True):
    """Code drops one handle."""

    handle: str


class Fetch(Base, frozen=True):
    """Code asks for a value that another worker owns."""

    number: int
    handle: str


class Abandon(Base, frozen=True):
    """Code gives up on a fetch."""

    fetch: str


class Await(Base, frozen=True):
    """Code waits for a value that its own worker owns."""

    number: int
    handle: str


class TimeOut(Base, frozen=True):
    """A creation takes too long."""

    rref: str


class Deliver(Base, frozen=True):
    """A message arrives."""

    message: str


class Duplicate(Base, frozen=True):
    """A message arrives, and a copy stays under way."""

    message: str


class Drop(Base, frozen=True):
    """A message is lost."""

    message: str


class Fail(Base, frozen=True):
    """The sender of a message is told that it will never arrive."""

    message: str


class Refuse(Base, frozen=True):
    """A message arrives at a receiver that cannot read it."""

    message: str


class Retry(Base, frozen=True):
    """An unanswered message is sent again."""

    message: str


class Die(Base, frozen=True):
    """A worker is gone. What it has sent may still arrive."""

    worker: int


class Notice(Base, frozen=True):
    """A worker hears that another is dead."""

    worker: int
    dead: int


class Restart(Base, frozen=True):
    """All code lets go, all tables become empty; then a worker begins its next life, and copies from before still arrive."""

    worker: int


Befalling = Deliver | Duplicate | Drop | Fail | Refuse | Retry
Move = (
    CreateLocal | CreateOnSelf | CreateRemote | Finish | Call | Reply | LetGo | Fetch | Abandon | Await | TimeOut
    | Befalling | Die | Notice | Restart
)  # fmt: skip


def told(move: Move) -> str:
    """Tell a move in a sentence."""
    fields = {name: _plain(name, getattr(move, name)) for name in move.__struct_fields__}
    return _SENTENCES[type(move)].format(**fields)


def _plain(name: str, value: object) -> str:
    if name in ("worker", "owner", "target", "dead"):
        return worker_name(WorkerId(int(str(value))))
    if name in ("holds", "cargo"):
        return " and ".join(map(str, value)) if value else "no reference"  # type: ignore[call-overload]
    if name == "failed":
        return "an error" if value else "a value"
    return str(value)


_SENTENCES: Final[dict[type, str]] = {
    CreateLocal: "{worker} makes x{number} of a value that holds {holds}",
    CreateOnSelf: "{worker} creates x{number} on itself",
    CreateRemote: "{worker} creates x{number} on {owner}, with {cargo} among the arguments (f{number})",
    Finish: "the function of {rref} ends with {failed} that holds {holds}",
    Call: "{worker} calls a function on {target} with {cargo} (c{number})",
    Reply: "{worker} returns {cargo} to {target} (r{number})",
    LetGo: "code lets go of {handle}",
    Fetch: "code asks for the value of {handle} (q{number})",
    Abandon: "code gives up on {fetch}",
    Await: "code waits for the value of {handle} (w{number})",
    TimeOut: "the creation of {rref} times out",
    Deliver: "{message} arrives",
    Duplicate: "{message} arrives, and a copy stays under way",
    Drop: "{message} is lost",
    Fail: "{message} fails, and its sender is told",
    Refuse: "{message} arrives and cannot be read",
    Retry: "{message} is sent again",
    Die: "{worker} dies",
    Notice: "{worker} hears that {dead} is dead",
    Restart: "everybody lets go, all is delivered, and {worker} begins another life; copies from before stay under way",
}
