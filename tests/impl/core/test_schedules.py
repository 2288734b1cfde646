"""Random schedules of operations, deliveries, copies, losses and failures, over the simulated network.

After every step: no value was dropped that somebody could still name (P1), and every table can be observed. At the end all
functions finish, all handles are dropped and everything is delivered; then all tables are empty (P3) and every fetch that was
not abandoned has ended (P5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farref.impl.core.effects import CompleteCall, CompleteFetch, DropValue, RunCall, RunCreation, WakeWaiter
from farref.impl.core.ids import (
    FetchId,
    OwnedReference,
    Reference,
    RRefId,
    UserReference,
    WaiterId,
    WorkerId,
)
from farref.impl.core.messages import Ack, Control, Excluded
from farref.impl.errors import ReferenceRefused
from farref.impl.simulated.network import InFlight, Simulation
from farref.properties.proof.link.rest import broken_at_rest

WORKERS = 3
Pick = Callable[[int], int]


class Driver:
    """Chooses one step at a time, each from what is possible."""

    def __init__(self, pick: Pick, host: int = 0) -> None:
        self.world = Simulation(WORKERS, host)
        self.pick = pick
        self.fired: Counter[str] = Counter()
        self.fetches: set[tuple[WorkerId, FetchId]] = set()
        self.waiters: dict[WaiterId, RRefId] = {}
        self.checked = 0
        self.local: Counter[RRefId] = Counter()
        """The local references that the owner's code was given and has not let go: what the tables say is not believed."""
        self.steps = [
            self.create, self.create, self.share, self.share, self.share, self.let_go, self.let_go, self.fetch,
            self.abandon, self.wait, self.finish, self.time_out, self.retry,
            *[self.deliver] * 9, self.duplicate, self.drop, self.fail,
        ]  # fmt: skip

    def step(self) -> None:
        move = self.steps[self.pick(len(self.steps))]
        if move():
            self.fired[move.__name__] += 1
        self.check()

    def check(self) -> None:
        effects, self.checked = self.world.log[self.checked :], len(self.world.log)
        for _, effect in effects:
            match effect:
                case DropValue(rref):
                    assert not self.names(rref)
                    assert not self.local[rref]
                    assert rref not in self.waiters.values()
                case WakeWaiter(waiter):
                    del self.waiters[waiter]
                case RunCall() | RunCreation() | CompleteCall() | CompleteFetch(abandoned=False):
                    self.local.update(r.rref for r in effect.references if isinstance(r, OwnedReference))
                case _:
                    pass

    def names(self, rref: RRefId) -> list[object]:
        """Everything that can still name a value, but for control messages, which only say who can."""
        found: list[object] = [
            f for f in self.world.in_flight() if any(d.rref == rref for d in getattr(f.message, "forks", ()))
        ]
        for core in self.world.cores.values():
            found += [record for record in core.user.records.values() if record.rref == rref]
        return found

    # Choices

    def worker(self) -> WorkerId:
        return WorkerId(self.pick(WORKERS))

    def handle(self, worker: WorkerId) -> Reference | None:
        handles = self.world.handles(worker)
        return handles[self.pick(len(handles))] if handles else None

    def flight(self, control: bool | None = None) -> InFlight | None:
        flights = [
            f for f in self.world.deliverable() if control in (None, isinstance(f.message, Control | Ack | Excluded))
        ]
        return flights[self.pick(len(flights))] if flights else None

    # Steps: each says whether it did something

    def create(self) -> bool:
        worker, owner = self.worker(), self.worker()
        if worker != owner:
            reference = self.handle(worker)
            try:
                self.world.create_remote(worker, owner, [reference] if reference and self.pick(3) == 0 else [])
            except ReferenceRefused:
                return False
        else:
            make = self.world.create_on_self if self.pick(2) else self.world.create_local
            self.local[make(worker).rref] += 1
        return True

    def share(self) -> bool:
        worker, target = self.worker(), self.worker()
        chosen = [reference for _ in range(1 + self.pick(2)) if (reference := self.handle(worker))]
        send = self.world.share_as_argument if self.pick(2) else self.world.share_in_result
        timed_out = {view.fork for view in self.world.observe()[worker].users if view.timed_out}
        usable = [r for r in chosen if not isinstance(r, UserReference) or r.fork not in timed_out]
        if usable:
            send(worker, target, *usable)
        return bool(usable)

    def let_go(self) -> bool:
        worker = self.worker()
        reference = self.handle(worker)
        if reference is not None:
            self.drop_handle(worker, reference)
        return reference is not None

    def drop_handle(self, worker: WorkerId, reference: Reference) -> None:
        if isinstance(reference, OwnedReference):
            self.local[reference.rref] -= 1
        self.world.let_go(worker, reference)

    def fetch(self) -> bool:
        worker = self.worker()
        reference = self.handle(worker)
        if not isinstance(reference, UserReference):
            return False
        try:
            self.fetches.add((worker, self.world.fetch(worker, reference)))
        except ReferenceRefused:
            return False
        return True

    def abandon(self) -> bool:
        worker = self.worker()
        records = [(fork, r) for fork, r in self.world.cores[worker].user.records.items() if r.fetches]
        if records:
            fork, record = records[self.pick(len(records))]
            self.world.abandon_fetch(worker, UserReference(record.owner, record.rref, fork), next(iter(record.fetches)))
        return bool(records)

    def wait(self) -> bool:
        worker = self.worker()
        reference = self.handle(worker)
        if not isinstance(reference, OwnedReference):
            return False
        self.waiters[self.world.await_value(worker, reference)] = reference.rref
        return True

    def finish(self) -> bool:
        worker = self.worker()
        parked = {id(p.run): p.run for p in self.world.cores[worker].parking.all()}
        waiting = {run.creation.rref for run in parked.values() if not isinstance(run, RunCall)}
        entries = self.world.cores[worker].owner.entries
        running = [rref for rref, entry in entries.items() if entry.running and rref not in waiting]
        if running:
            self.world.finish_function(worker, running[self.pick(len(running))], failed=self.pick(4) == 0)
        return bool(running)

    def time_out(self) -> bool:
        worker = self.worker()
        reference = self.handle(worker)
        if isinstance(reference, UserReference) and reference.fork.number == reference.rref.number:
            return self.world.time_out_creation(worker, reference)
        return False

    def retry(self) -> bool:
        worker = self.worker()
        unanswered = self.world.unanswered(worker)
        if unanswered:
            self.world.retry(worker, *unanswered[self.pick(len(unanswered))])
        return bool(unanswered)

    def deliver(self) -> bool:
        flight = self.flight()
        if flight:
            self.world.deliver(flight.id)
        return flight is not None

    def duplicate(self) -> bool:
        flight = self.flight(control=True)
        if flight:
            self.world.duplicate(flight.id)
        return flight is not None

    def drop(self) -> bool:
        flight = self.flight(control=True)
        if flight:
            self.world.drop(flight.id)
        return flight is not None

    def fail(self) -> bool:
        flight = self.flight(control=False)
        if flight:
            self.world.fail(flight.id)
        return flight is not None

    # The end

    def settle(self) -> None:
        for _ in range(1000):
            if self.is_empty():
                return
            while flights := self.world.in_flight():
                self.world.deliver(flights[0].id)
                self.check()
            if not any(self.world.unanswered(worker) for worker in self.world.cores):
                assert broken_at_rest(self.world.observe().values()) == []
            for worker in self.world.cores:
                for rref in [r for r, entry in self.world.cores[worker].owner.entries.items() if entry.running]:
                    self.world.finish_function(worker, rref)
                    self.check()
                for reference in self.world.handles(worker):
                    self.drop_handle(worker, reference)
                    self.check()
                for peer, number in self.world.unanswered(worker):
                    self.world.retry(worker, peer, number)
        raise AssertionError(self.world.observe())

    def is_empty(self) -> bool:
        return not self.world.in_flight() and all(tables.is_empty() for tables in self.world.observe().values())

    def finish_and_check(self) -> None:
        self.settle()
        ended = {(worker, e.fetch) for worker, e in self.world.log if isinstance(e, CompleteFetch)}
        assert ended == self.fetches
        assert not self.waiters
        assert not +self.local
        assert all(core.is_empty() for core in self.world.cores.values())


@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(1, 80))
def test_every_schedule_ends_with_empty_tables(data: st.DataObject, steps: int) -> None:
    driver = Driver(lambda n: data.draw(st.integers(0, n - 1)))
    for _ in range(steps):
        driver.step()
    driver.finish_and_check()


@pytest.mark.parametrize("seed", range(8))
def test_long_seeded_schedules(seed: int) -> None:
    """The same without shrinking, and longer: 40 schedules of 250 steps for each seed. Every kind of step must happen."""
    fired: Counter[str] = Counter()
    for run in range(40):
        random = Random(seed * 1000 + run)
        driver = Driver(random.randrange)
        for _ in range(250):
            driver.step()
        driver.finish_and_check()
        fired += driver.fired
    assert len(fired) == 13, fired


def is_explained(driver: Driver, dead: WorkerId) -> bool:
    """Say whether all that is left is there because of the dead worker: a fork or a child of it, or what such a child pins."""
    tables = driver.world.observe()
    users = [user for view in tables.values() for user in view.users]
    pinned = {user.fork for user in users if any(holder == dead for _, holder in user.children)}
    entries = [entry for view in tables.values() for entry in view.entries]
    kept = [any(holder == dead or fork in pinned for fork, holder in entry.forks) for entry in entries]
    quiet = not any(view.parked_calls or view.unanswered for view in tables.values())
    return quiet and all(kept) and {user.fork for user in users} == pinned


@pytest.mark.parametrize("seed", range(150))
def test_R34_after_a_death_only_what_the_dead_held_is_left(seed: int) -> None:
    random = Random(seed)
    driver = Driver(random.randrange)
    for _ in range(120):
        driver.step()
    dead = WorkerId(random.randrange(WORKERS))
    driver.world.kill(dead)
    for _ in range(50):
        while flights := driver.world.in_flight():
            driver.world.deliver(flights[0].id)
        for worker, core in driver.world.cores.items():
            for rref in [r for r, entry in core.owner.entries.items() if entry.running]:
                driver.world.finish_function(worker, rref)
            for reference in driver.world.handles(worker):
                driver.world.let_go(worker, reference)
            for peer, number in driver.world.unanswered(worker):
                driver.world.retry(worker, peer, number)
    assert is_explained(driver, dead), driver.world.observe()
