"""Logs of real runs: accepted as they are, refused when anything in them did not happen, and never refused for silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest

from farref.impl import launch, rpc_async, rpc_sync
from farref.properties.logs.format import Event, Log, WorkerLog, read_logs
from farref.properties.logs.validate import LogVerdict, validate
from tests.impl.far import references as far

NAMES = ["A", "B", "C"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The logs of real processes at random work, under real concurrency."""
    folder = tmp_path_factory.mktemp("logs")
    with launch(NAMES, allow=["tests.impl.far.references"], log=str(folder)):
        for seed in (20, 24):
            everybody = [*NAMES, "driver"]
            for future in [rpc_async(name, far.wander, [seed + n, 12, everybody, []]) for n, name in enumerate(NAMES)]:
                future.wait()
        del future
        for name in NAMES:
            rpc_sync(name, far.collect)
        far.collect()
    return sorted(folder.iterdir())


def read(files: list[Path]) -> Log:
    return read_logs((path.name, path.read_bytes()) for path in files)


def renumber(worker: WorkerLog) -> None:
    worker.events = [msgspec.structs.replace(one, number=number) for number, one in enumerate(worker.events, start=1)]


def places(log: Log) -> list[tuple[int, int]]:
    """List where there is an event about an RRef that is no copy: the worker, and the place in its log."""
    found = ((rank, place, event) for rank, one in log.workers.items() for place, event in enumerate(one.events))
    return [(rank, place) for rank, place, event in found if event.rref is not None and event.effect]


# -- real processes ----------------------------------------------------------------------------------------------------


def test_the_log_of_a_real_run_is_accepted(files: list[Path]) -> None:
    log = read(files)
    assert log.names == ("driver", *NAMES)
    assert log.unlogged == []
    assert log.events > 200
    assert all(worker.is_ended for worker in log.workers.values())
    assert validate(log) is None


def test_lines_may_be_mixed_in_one_file(files: list[Path]) -> None:
    merged = b"".join(path.read_bytes() for path in reversed(files))
    assert validate(read_logs([("all", merged)])) is None


def test_an_event_that_is_left_out_is_missed(files: list[Path]) -> None:
    for rank, place in Random(1).sample(places(read(files)), 20):
        log = read(files)
        gone = log.workers[rank].events.pop(place)
        finding = validate(log)
        assert finding is not None
        assert finding.event == log.workers[rank].events[place], "the number before it is missing"
        renumber(log.workers[rank])
        finding = validate(log)
        assert finding is not None, gone
        assert finding.outcome is LogVerdict.REFUSED
        assert gone.rref in (finding.rref, gone.rref if finding.event and finding.event.event == "end" else None)


FORGERIES: dict[str, Callable[[Event], Event | None]] = {
    "another fork": lambda event: None if event.fork is None else msgspec.structs.replace(event, fork=f"{event.fork}7"),
    "another message": lambda event: (
        None if event.message is None else msgspec.structs.replace(event, message="UserDelete")
    ),
    "another sender": lambda event: (
        None if event.source is None else msgspec.structs.replace(event, source=(event.source + 1) % 4)
    ),
    "a letting go": lambda event: msgspec.structs.replace(event, event="let go", message=None),
    "a drop": lambda event: msgspec.structs.replace(event, event="drop", fork=None, message=None),
}
"""Events made of others; none where that cannot be."""


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_an_event_that_is_forged_is_found(files: list[Path], forge: Callable[[Event], Event | None]) -> None:
    forged = 0
    for rank, place in Random(2).sample(places(read(files)), 20):
        log = read(files)
        events = log.workers[rank].events
        other = forge(events[place])
        if other is None or other == events[place] or other.event == "drop" == events[place].event:
            continue
        if (other.event, other.fork) == (events[place].event, events[place].fork) == ("let go", other.fork):
            continue
        events[place] = other
        finding = validate(log)
        assert finding is not None, other
        assert finding.outcome is LogVerdict.REFUSED
        forged += 1
    assert forged > 3


def test_events_in_another_order_are_found(files: list[Path]) -> None:
    refused = 0
    for rank, place in Random(3).sample(places(read(files)), 40):
        log = read(files)
        events = log.workers[rank].events
        later = next((at for at in range(place + 1, len(events)) if events[at].rref == events[place].rref), None)
        if later is not None:
            events[place], events[later] = events[later], events[place]
            renumber(log.workers[rank])
            refused += validate(log) is not None
    assert refused > 5, "of two events in a row, many can come in one order only"


# -- partial logs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", range(4))
def test_a_worker_may_have_no_log(files: list[Path], missing: int) -> None:
    log = read(files[:missing] + files[missing + 1 :])
    assert len(log.unlogged) == 1
    finding = validate(log)
    assert finding is None


@pytest.mark.parametrize("seed", range(8))
def test_a_log_may_stop_anywhere(files: list[Path], seed: int) -> None:
    random = Random(seed)
    cut = [
        (path.name, content[: random.randrange(200, len(content))]) for path in files if (content := path.read_bytes())
    ]
    finding = validate(read_logs(cut))
    assert finding is None or finding.outcome is LogVerdict.UNDECIDED


@pytest.mark.parametrize("seed", range(4))
def test_arrivals_may_be_left_out_of_a_log_that_says_so(files: list[Path], seed: int) -> None:
    log, random, left_out = read(files), Random(seed), 0
    for worker in log.workers.values():
        kept = [event for event in worker.events if event.event != "receive" or random.random() > 0.01]
        left_out += len(worker.events) - len(kept)
        worker.header, worker.events = msgspec.structs.replace(worker.header, complete=False), kept
    assert left_out
    finding = validate(log)
    assert finding is None or finding.outcome is LogVerdict.UNDECIDED


def test_what_is_certain_is_refused_whatever_is_not_logged(files: list[Path]) -> None:
    log = read(files[1:])
    events = log.workers[2].events
    place = next(at for at, event in enumerate(events) if event.event == "let go" and event.fork is not None)
    events.insert(place, events[place])
    renumber(log.workers[2])
    finding = validate(log)
    assert finding is not None
    assert (finding.outcome, finding.event) == (LogVerdict.REFUSED, log.workers[2].events[place + 1])
