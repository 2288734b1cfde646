"""Logs of simulated workers, among whom more goes wrong than on a machine; and of workers that make mistakes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from farref.impl.core.ids import Incarnation, UserReference, WorkerId
from farref.impl.core.journal import LoggedCore
from farref.impl.core.messages import Ack, Control
from farref.impl.errors import RpcError
from farref.impl.worker.logfile import journal_in
from farref.model.rref.world import Bounds
from farref.properties.logs.format import Log
from farref.properties.logs.validate import validate
from farref.properties.protocols import sound_model
from farref.properties.rref.protocol import RREF
from farref.properties.twin.backends.rref.simulated import Cores, SeenSimulation, SimulatedBackend
from farref.properties.twin.schedule import Schedule
from farref.properties.twin.stepper import Stepper
from farref.properties.zoo.catalogue import RREF_MUTANTS
from tests.properties.logs.test_log import read

# -- schedules of the twin ---------------------------------------------------------------------------------------------


class LoggedBackend(SimulatedBackend):
    """The simulation, whose workers keep logs."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def start(self, bounds: Bounds) -> None:
        """Begin with cores that keep logs."""
        super().start(bounds)
        names = {WorkerId(rank): f"worker{rank}" for rank in range(bounds.workers)}
        logged = {
            rank: LoggedCore(rank, names, Incarnation(1), journal_in(self.folder / f"{rank}.jsonl")) for rank in names
        }
        self.network.cores = self.network.used_cores = Cores(dict(logged))
        self.logged = logged

    def log(self) -> Log:
        """End all logs, and read them."""
        for core in self.logged.values():
            core.end()
        return read([self.folder / f"{rank}.jsonl" for rank in self.logged])


def run(schedule: Schedule, backend: LoggedBackend) -> Log:
    """Take a schedule to its end, and look at nothing but the log."""
    backend.restless = schedule.restless
    backend.start(schedule.bounds)
    model, stepper = sound_model(schedule.bounds), Stepper(schedule, schedule.random())
    world = model.initial
    while (action := stepper.draw(world)) is not None:
        backend.perform(action)
        world = model.step(world, action) or world
    return backend.log()


@pytest.mark.parametrize("number", range(60))
def test_the_log_of_every_schedule_is_accepted(number: int, tmp_path: Path) -> None:
    log = run(RREF.draw(9, number, {}), LoggedBackend(tmp_path))
    assert validate(log) is None


# -- workers that do as they like ---------------------------------------------------------------------------------------


def roam(seed: int, folder: Path) -> Log:
    """Let three workers do as they like, with no model beside them, until everything is let go and nothing is under way."""
    random, network = Random(seed), SeenSimulation(3)
    names = {WorkerId(rank): f"worker{rank}" for rank in range(3)}
    cores = {rank: LoggedCore(rank, names, Incarnation(1), journal_in(folder / f"{rank}.jsonl")) for rank in names}
    network.cores = Cores(dict(cores))
    for _ in range(60):
        with suppress(RpcError, KeyError):
            random.choice((begin, begin, arrive, arrive, arrive, finish, let_go))(random, network)
    for _ in range(400):
        with suppress(RpcError, KeyError):
            random.choice((arrive, finish, let_go, retry))(random, network)
    for core in cores.values():
        core.end()
    return read([folder / f"{rank}.jsonl" for rank in names])


def begin(random: Random, network: SeenSimulation) -> None:
    worker, other = random.sample(list(network.cores), 2)
    held = network.handles(worker)
    if not held or random.random() < 0.3:
        network.create_remote(worker, other) if random.random() < 0.7 else network.create_local(worker)
        return
    reference = random.choice(held)
    move = random.choice(("argument", "result", "fetch"))
    if move == "fetch" and isinstance(reference, UserReference):
        network.fetch(worker, reference)
    elif move == "argument":
        network.share_as_argument(worker, other, reference)
    else:
        network.share_in_result(worker, other, reference)


def arrive(random: Random, network: SeenSimulation) -> None:
    for flight in random.sample(network.in_flight(), min(1, len(network.in_flight()))):
        if isinstance(flight.message, Control) and random.random() < 0.2:
            network.duplicate(flight.id)
        else:
            network.deliver(flight.id)


def finish(random: Random, network: SeenSimulation) -> None:
    worker = random.choice(list(network.cores))
    running = [rref for rref, entry in network.cores[worker].owner.entries.items() if entry.running]
    if running:
        network.finish_function(worker, random.choice(running))


def let_go(random: Random, network: SeenSimulation) -> None:
    worker = random.choice(list(network.cores))
    waiting = {fork for fork, record in network.cores[worker].user.records.items() if record.fetches}
    free = [one for one in network.handles(worker) if getattr(one, "fork", None) not in waiting]
    if free:
        network.let_go(worker, random.choice(free))


def retry(random: Random, network: SeenSimulation) -> None:
    worker = random.choice(list(network.cores))
    for peer, number in network.unanswered(worker):
        if not any(isinstance(one.message, Control | Ack) for one in network.in_flight()):
            network.retry(worker, peer, number)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_workers_like_to_do_is_accepted(seed: int, tmp_path: Path) -> None:
    assert validate(roam(seed, tmp_path)) is None


SEEN = (
    "creator_is_not_counted",
    "local_references_do_not_count",
    "owner_shares_without_counting",
    "deleted_fork_leaves_its_entry",
    "fork_is_counted_for_its_parent",
    "fork_is_not_counted_before_the_creation",
    "pending_user_goes",
    "parent_goes_before_its_children",
    "fork_from_the_owner_is_pending",
    "child_accepts_on_arrival",
    "last_child_does_not_release_its_parent",
    "copies_take_effect",
    "what_is_below_the_mark_takes_effect",
    "mark_is_raised_too_far",
    "answers_are_ignored",
    "call_runs_unconfirmed",
    "fork_request_is_sent_once",
)
"""Mistakes that show in what workers do, without failures and timeouts, and with nothing but their logs to look at."""


@pytest.mark.parametrize("name", SEEN)
def test_a_mistake_shows_in_the_log_of_whoever_makes_it(name: str, tmp_path: Path) -> None:
    with RREF_MUTANTS[name].alive():
        assert any(validate(roam(seed, tmp_path)) is not None for seed in range(60))
