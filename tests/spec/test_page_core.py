"""The core on a page keeps what R33 promises: nothing is dropped while anybody can name it, and in the end nothing is left."""

from __future__ import annotations

from random import Random

import pytest

from tests.spec.page_core import Fork, Id, Network, Worker

WORKERS = 3
STEPS = 120
SEEDS = range(400)


def act(network: Network) -> None:
    """Let an application do something it may do."""
    random = network.random
    worker = random.choice(network.workers)
    held = [fork for fork, record in worker.records.items() if record.handles]
    own = [rref for rref, entry in worker.entries.items() if entry.local - (entry.phase == "CREATED") > 0]
    running = [rref for rref, entry in worker.entries.items() if entry.phase == "CREATED"]
    match random.randrange(7):
        case 0:
            worker.create((worker.rank + 1 + random.randrange(WORKERS - 1)) % WORKERS)
        case 1:
            worker.create_here(ready=random.random() < 0.5)
        case 2 | 3 if held or own:
            to = random.randrange(WORKERS)
            worker.send(to, random.choice(["Call", "Return"]), worker.shared(random.choice(held + own), to))
        case 4 if held or own:
            worker.let_go(random.choice(held + own))
        case 5 if held:
            worker.fetch(random.choice(held))
        case 6 if running:
            worker.finish(random.choice(running))
        case _:
            pass


def finish(network: Network) -> None:
    """Let everything arrive, functions end, and applications let go."""
    while network.flying or any(worker.unanswered for worker in network.workers):
        if not network.flying:
            network.retry()
        network.deliver(faults=False)
    for worker in network.workers:
        for rref in [rref for rref, entry in worker.entries.items() if entry.phase == "CREATED"]:
            worker.finish(rref)


def let_all_go(network: Network) -> None:
    for worker in network.workers:
        for named in [*worker.records, *worker.entries]:
            while worker.holds(named):
                worker.let_go(named)


def check(network: Network) -> None:
    """P1: whatever was dropped, nobody holds, and nothing is under way that would hand it to somebody."""
    dropped = {rref for worker in network.workers for rref in worker.dropped}
    held = {record.rref for worker in network.workers for record in worker.records.values()}
    carried = {
        content.rref for _, _, kind, content in network.flying if kind in ("Call", "Return") and type(content) is Fork
    }
    assert not dropped & (held | carried)


def run(seed: int) -> Network:
    network = Network(WORKERS, Random(seed))
    for _ in range(STEPS):
        if network.flying and network.random.random() < 0.6:
            network.deliver(faults=True)
        elif network.random.random() < 0.1:
            network.retry()
        else:
            act(network)
        check(network)
    for _ in range(3):
        finish(network)
        let_all_go(network)
        check(network)
    finish(network)
    return network


def without_children(worker: Worker, fork: Id) -> None:
    worker.records[fork].children.clear()
    RELEASE(worker, fork)


def without_confirmation(worker: Worker, fork: Id) -> None:
    worker.records[fork].confirmed = True
    RELEASE(worker, fork)


def without_fetches(worker: Worker, fork: Id) -> None:
    worker.records[fork].fetches = 0
    RELEASE(worker, fork)


def without_expecting(worker: Worker, rref: Id) -> None:
    entry = worker.entries[rref]
    if not entry.forks and not entry.local:
        worker.entries.pop(rref)
        worker.dropped.add(rref)


RELEASE = Worker.release
CARELESS = [
    ("release", without_children),
    ("release", without_confirmation),
    ("release", without_fetches),
    ("settle", without_expecting),
]


def run_all() -> None:
    for seed in SEEDS:
        network = run(seed)
        assert not any(worker.entries or worker.records for worker in network.workers)


def test_nothing_is_dropped_too_early_and_nothing_is_left() -> None:
    run_all()


@pytest.mark.parametrize(("row", "careless"), CARELESS, ids=lambda one: getattr(one, "__name__", one))
def test_a_condition_left_out_is_noticed(row: str, careless: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something is dropped too early, or is gone when something about it arrives, or is left."""
    monkeypatch.setattr(Worker, row, careless)
    with pytest.raises((AssertionError, KeyError)):
        run_all()
