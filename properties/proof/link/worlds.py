"""A world of the model as a small state of the proof: the same facts under the proof's names.

One thing the proof knows and a world does not show at all times: whether an RRef was created by `remote()`. Whoever follows a
run sees it, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from farref.model.rref import messages as msg
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.network import Network
from farref.model.rref.owner import Entry
from farref.model.rref.user import Fetch, Handle, User
from farref.model.rref.world import Bounds, ForkData, World
from farref.model.values import Table
from farref.properties.proof.logic.small import Fact, Small

Remote = frozenset[RRefId]
"""The RRefs that were created by another worker."""

CALLS: Final[dict[str, type[msg.UserCall]]] = {
    "remote_call": msg.RemoteCall,
    "user_accept": msg.UserAccept,
    "remote_failed": msg.RemoteFailed,
    "call": msg.Call,
    "result": msg.Return,
    "call_failed": msg.CallFailed,
    "fetch_call": msg.FetchCall,
    "fetch_return": msg.FetchReturn,
}
CONTROLS: Final[dict[str, type[msg.Control]]] = {
    "fork_request": msg.ForkRequest,
    "child_accept": msg.ChildAccept,
    "user_delete": msg.UserDelete,
    "create_failed": msg.CreateFailed,
}
MESSAGES: Final = (
    (
        *((msg.NUMBERS[kind], name) for name, kind in CALLS.items()),
        *((msg.NUMBERS[kind], f"{name}.flying") for name, kind in CONTROLS.items()),
        *(
            (msg.kind_number(msg.Ack(kind(RRefId(0), ForkId(0)))), f"{name}.answering")
            for name, kind in CONTROLS.items()
        ),
    ),
    tuple((msg.NUMBERS[kind], f"{name}.unanswered") for name, kind in CONTROLS.items()),
    tuple((msg.NUMBERS[kind], f"{name}.processed") for name, kind in CONTROLS.items()),
)
"""What the proof calls each kind of message: those that are under way, unanswered and processed, by their place."""

USER_PHASES: Final = {User.PENDING: "pending", User.CONFIRMED: "confirmed"}
HANDLES: Final = {Handle.PARKED: "parked", Handle.HELD: "held", Handle.TIMED_OUT: "timed_out"}
FETCHES: Final = {Fetch.WAITING: "asking", Fetch.ABANDONED: "given_up"}
ENTRY_PHASES: Final = {
    Entry.EXPECTED: "expected", Entry.CREATED: "created", Entry.READY: "ready", Entry.GONE: "gone"
}  # fmt: skip


def fork_name(fork: int) -> str:
    """Name a fork as small worlds do."""
    return f"f{fork}"


def rref_name(rref: int) -> str:
    """Name an RRef as small worlds do."""
    return f"x{rref}"


@lru_cache(maxsize=64)
def frame_of(bounds: Bounds) -> tuple[dict[str, tuple[str, ...]], dict[Fact, str]]:
    """List the forks and RRefs of a world, and to which RRef each fork belongs."""
    forks = tuple(map(fork_name, range(bounds.forks_total)))
    things = {"Fork": forks, "RRef": tuple(map(rref_name, range(bounds.rrefs)))}
    functions: dict[Fact, str] = {
        ("rref_of", fork_name(fork)): rref_name(bounds.rref_of(ForkId(fork))) for fork in range(bounds.forks_total)
    }
    return things, functions


def state_of(world: World, remote: Remote, bounds: Bounds, lineage: Table[ForkData] | None = None) -> Small:
    """Give the state of the proof that a world is.

    For whom a fork is meant is settled when it is minted. The proof has it settled before, so a `lineage` of later can be
    given.
    """
    things, functions = frame_of(bounds)
    facts = {
        *_forks(world, remote, bounds),
        *_entries(world, remote),
        *_meant(lineage or world.lineage, bounds),
    }
    return Small(things, frozenset(facts), functions)


def state_about(
    world: World, forks: Iterable[ForkId], rrefs: Iterable[RRefId], remote: Remote, bounds: Bounds
) -> Small:
    """Give as much of that state as there is to say of some forks that were minted, with their parents, and of some RRefs."""
    listed = set(forks)
    listed |= {parent for fork in listed if (parent := world.lineage[fork].parent) is not None}
    entries = {*rrefs, *(bounds.rref_of(fork) for fork in listed)}
    facts: list[Fact] = [
        (one, fork_name(fork), *others) for fork in listed for one, *others in _fork(world, fork, remote, bounds)
    ]
    facts += [("for_owner", fork_name(fork)) for fork in listed if _is_for_owner(world.lineage, fork, bounds)]
    facts += [fact for rref in entries for fact in _entry(world, rref, remote)]
    things = {"Fork": tuple(map(fork_name, listed)), "RRef": tuple(map(rref_name, entries))}
    return Small(things, frozenset(facts), frame_of(bounds)[1])


def _meant(lineage: Table[ForkData], bounds: Bounds) -> Iterator[Fact]:
    for number in range(bounds.forks_total):
        if _is_for_owner(lineage, ForkId(number), bounds):
            yield "for_owner", fork_name(number)


def _is_for_owner(lineage: Table[ForkData], fork: ForkId, bounds: Bounds) -> bool:
    return lineage[fork].holder == bounds.owner(bounds.rref_of(fork))


def _forks(world: World, remote: Remote, bounds: Bounds) -> Iterator[Fact]:
    for number, data in enumerate(world.lineage):
        if data.holder is not None:
            yield from (
                (one, fork_name(number), *others) for one, *others in _fork(world, ForkId(number), remote, bounds)
            )


def _fork(world: World, fork: ForkId, remote: Remote, bounds: Bounds) -> Iterator[tuple[str, ...]]:
    rref, parent = bounds.rref_of(fork), world.lineage[fork].parent
    yield ("minted",)
    if rref in remote and fork == bounds.creator_fork(rref):
        yield ("remote",)
    if parent is not None:
        yield ("has_parent",)
        yield "parent", fork_name(parent)
        if fork in world.users[parent].children:
            yield ("kept",)
    if fork in world.owners[rref].forks:
        yield ("counted",)
    if fork in world.owners[rref].fetches:
        yield ("fetch_parked",)
    user = world.users[fork]
    yield from (
        (one,) for one in (USER_PHASES.get(user.phase), HANDLES.get(user.handle), FETCHES.get(user.fetch)) if one
    )
    yield from ((one,) for one in _messages(world.network, fork))


def _messages(network: Network, fork: ForkId) -> Iterator[str]:
    for table, names in zip(network[:3], MESSAGES, strict=True):
        for number, name in names:
            if fork in table[number]:
                yield name


def _entries(world: World, remote: Remote) -> Iterator[Fact]:
    for number in range(len(world.owners)):
        yield from _entry(world, RRefId(number), remote)


def _entry(world: World, rref: RRefId, remote: Remote) -> Iterator[Fact]:
    owner = world.owners[rref]
    said = {
        "begun": owner.phase is not Entry.ABSENT or world.minted[rref] > 0,
        "by_remote": rref in remote,
        "running": owner.running,
        "owner_holds": owner.held,
        "owner_waits": owner.waiting,
        "orphaned": rref in world.application.orphaned,
        "duplicated": owner.duplicated,
    }
    yield from ((name, rref_name(rref)) for name, holds in said.items() if holds)
    if owner.phase in ENTRY_PHASES:
        yield ENTRY_PHASES[owner.phase], rref_name(rref)
