"""Logs with one thing in them that cannot be: each is refused in one line, and the event is named that is wrong."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from farref.impl.core.ids import Incarnation, UserReference, WorkerId
from farref.impl.core.journal import LoggedCore
from farref.impl.core.messages import Call, RemoteCall
from farref.impl.simulated.network import Simulation
from farref.impl.worker.logfile import journal_in
from farref.properties.logs.format import Event, Log, WorkerLog
from farref.properties.logs.validate import LogVerdict, validate
from farref.properties.rref.protocol import RREF
from tests.impl.core.simulation import drain, under_way
from tests.properties.logs.test_log import read, renumber
from tests.properties.logs.test_mistakes import LoggedBackend, roam, run

B, A, C = WorkerId(0), WorkerId(1), WorkerId(2)


def tell(folder: Path) -> Log:
    """A creates on B and shares with C, which fetches twice and lets go. Two shares fail, and one creation."""
    names = {B: "B", A: "A", C: "C"}
    cores = {rank: LoggedCore(rank, names, Incarnation(1), journal_in(folder / f"{rank}.jsonl")) for rank in names}
    world = Simulation(3)
    world.cores = dict(cores)
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    drain(world)
    (held,) = world.handles(C)
    assert isinstance(held, UserReference)
    world.fetch(C, held)
    world.fetch(C, held)
    world.finish_function(B, x.rref)
    drain(world)
    world.let_go(C, held)
    world.share_as_argument(A, C, x)
    world.fail(under_way(world, Call))
    world.share_as_argument(A, C, x)
    world.refuse(under_way(world, Call))
    y = world.create_remote(A, B)
    world.fail(under_way(world, RemoteCall))
    for reference in (x, y):
        world.let_go(A, reference)
    drain(world)
    for core in cores.values():
        core.end()
    return read([folder / f"{rank}.jsonl" for rank in names])


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return tell(tmp_path)


def first(log: Log, event: str, message: str | None = None) -> Event:
    """The first event of its kind."""
    found = (one for worker in log.workers.values() for one in worker.events)
    return min((one for one in found if (one.event, one.message) == (event, message)), key=lambda one: one.time)


def put(log: Log, rank: int, place: int, event: Event) -> Event:
    """Put an event in a place of a worker's log, and number all of them anew."""
    events = log.workers[rank].events
    events.insert(place, msgspec.structs.replace(event, worker=rank))
    renumber(log.workers[rank])
    return log.workers[rank].events[place]


def move(log: Log, event: Event, to: int) -> Event:
    """Let another worker have done it, at the same time."""
    log.workers[event.worker].events.remove(event)
    renumber(log.workers[event.worker])
    return put(log, to, bisect([one.time for one in log.workers[to].events], event.time), event)


def replace(log: Log, event: Event, **changes: object) -> Event:
    """Let an event say something else."""
    events = log.workers[event.worker].events
    other = msgspec.structs.replace(event, **changes)
    events[events.index(event)] = other
    return other


def test_what_is_forged_here_is_sound(log: Log) -> None:
    assert validate(log) is None


# -- what cannot be ----------------------------------------------------------------------------------------------------

OTHERS = {
    "let go": ("meant for worker", B),
    "fetch": ("meant for worker", A),
    "withdraw": ("worker 1 made fork", C),
    "refuse": ("meant for worker", A),
    "fail": ("meant for worker", C),
}
"""What only the holder of a fork can do, or its maker: the objection, and somebody who is neither."""


@pytest.mark.parametrize("kind", OTHERS)
def test_R1_nobody_but_its_holder_or_maker_does_anything_with_a_fork(log: Log, kind: str) -> None:
    objection, somebody = OTHERS[kind]
    found = first(log, kind, "RemoteCall" if kind == "fail" else None)
    assert_named(log, move(log, found, somebody), objection)


def test_R22_a_value_is_dropped_once(log: Log) -> None:
    drop = first(log, "drop")
    events = log.workers[B].events
    assert_named(log, put(log, B, events.index(drop) + 1, drop), "dropped already")


def test_R22_a_value_is_dropped_by_its_owner(log: Log) -> None:
    drop = first(log, "drop")
    assert_named(log, put(log, C, len(log.workers[C].events) - 1, drop), "the RRef is worker 0's, not worker 2's")


CONTRADICTIONS: dict[str, tuple[Callable[[Log], Event], dict[str, object], str]] = {
    "owner": (lambda log: first(log, "receive", "Call"), {"owner": 1}, "the RRef is worker 0's, not worker 1's"),
    "parent": (lambda log: first(log, "receive", "Call"), {"parent": "1.1.9"}, "from fork 1.1.1, not from fork 1.1.9"),
    "no parent": (lambda log: first(log, "receive", "Call"), {"parent": None}, "from fork 1.1.1, not by the owner"),
    "sender": (lambda log: first(log, "receive", "Call"), {"source": 0}, "worker 1 made fork 1.1.2, not worker 0"),
    "owner of a refused fork": (lambda log: first(log, "refuse"), {"owner": 2}, "the RRef is worker 0's"),
    "parent of a refused fork": (lambda log: first(log, "refuse"), {"parent": None}, "not by the owner"),
    "owner of a share": (lambda log: first(log, "share"), {"owner": 2}, "the RRef is worker 0's"),
    "id of a share": (lambda log: first(log, "share"), {"fork": "0.1.2"}, "worker 0 made fork 0.1.2, not worker 1"),
    "owner of a failed creation": (lambda log: first(log, "fail", "RemoteCall"), {"to": 2}, "the RRef is worker 0's"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_R2_whoever_makes_a_fork_says_what_it_is(log: Log, what: str) -> None:
    find, changes, objection = CONTRADICTIONS[what]
    assert_named(log, replace(log, find(log), **changes), objection)


def test_R2_a_fork_is_one_of_one_rref(log: Log) -> None:
    x, y = (event for event in log.workers[A].events if event.event == "create remote")
    for worker in log.workers.values():
        for event in list(worker.events):
            if event.rref == y.rref and event.fork == y.fork:
                replace(log, event, fork=x.fork)
    created_again = next(event for event in log.workers[A].events if event.rref == y.rref)
    assert_named(log, created_again, f"fork {x.fork} is one of RRef {x.rref}")


def test_R2_whoever_creates_mints_the_id(log: Log) -> None:
    """C says that it created what has an id of A's."""
    event = msgspec.structs.replace(
        first(log, "create remote"), event="create local", rref="1.1.77", fork=None, to=None
    )
    assert_named(log, put(log, C, 0, event), "worker 1 minted this")


@pytest.mark.parametrize("kind", ["let go", "drop", "end"])
def test_nothing_happens_behind_the_end(log: Log, kind: str) -> None:
    event = first(log, kind)
    events = log.workers[event.worker].events
    if kind != "end":
        events.remove(event)
    assert_named(log, put(log, event.worker, len(events), event), "has ended")


FETCHES = {
    "another fetch arrives": ("FetchCall", {"fetch": 9}, "fetch 9 of this fork was not asked for"),
    "another fetch is answered": ("FetchReturn", {"fetch": 9}, "fetch 9 of this fork was not asked for"),
}


@pytest.mark.parametrize("what", FETCHES)
def test_R20_what_is_fetched_was_asked_for(log: Log, what: str) -> None:
    message, changes, objection = FETCHES[what]
    assert_named(log, replace(log, first(log, "receive", message), **changes), objection)


@pytest.mark.parametrize("message", ["FetchCall", "FetchReturn"])
def test_R3_a_fetch_arrives_once_and_is_answered_once(log: Log, message: str) -> None:
    found = first(log, "receive", message)
    events = log.workers[found.worker].events
    assert_named(log, put(log, found.worker, events.index(found) + 1, found), "happens once")


def test_R26_nothing_is_fetched_after_letting_go_although_another_fetch_is_under_way(log: Log) -> None:
    events = log.workers[C].events
    second = [event for event in events if event.event == "fetch"][1]
    letting_go = first(log, "let go")
    events.remove(letting_go)
    put(log, C, events.index(second), letting_go)
    late = log.workers[C].events[events.index(second)]
    assert_named(log, late, "does not hold the fork")


def assert_named(log: Log, event: Event, objection: str) -> None:
    finding = validate(log)
    assert finding is not None
    assert (finding.outcome, finding.event) == (LogVerdict.REFUSED, event), finding
    assert objection in finding.reason, finding.reason
    assert "\n" not in finding.reason


# -- what may be -------------------------------------------------------------------------------------------------------


def partial(log: Log, random: Random) -> Iterator[Log]:
    """Leave out a worker; what each worker did last; something here and there."""
    rest = {rank: WorkerLog(one.header, list(one.events)) for rank, one in log.workers.items()}
    yield Log(log.names, {rank: one for rank, one in rest.items() if rank != random.choice(list(rest))})
    cut = {
        rank: WorkerLog(one.header, one.events[: random.randrange(len(one.events) + 1)]) for rank, one in rest.items()
    }
    yield Log(log.names, cut)
    for one in rest.values():
        one.header = msgspec.structs.replace(one.header, complete=False)
        one.events = [event for event in one.events if random.random() > 0.1]
    yield Log(log.names, rest)


@pytest.mark.parametrize("number", range(40))
def test_silence_is_never_refused(number: int, tmp_path: Path) -> None:
    """Whatever is left out of the log of a run that was, failures and timeouts included."""
    log = roam(number, tmp_path) if number % 4 == 0 else run(RREF.draw(3, number, {}), LoggedBackend(tmp_path))
    for rest in partial(log, Random(number)):
        finding = validate(rest)
        assert finding is None or finding.outcome is LogVerdict.UNDECIDED, finding
