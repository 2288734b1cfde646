"""The tables of transitions at the head of `owner.py` and `user.py` say what the handlers do, all of it and nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from random import Random
from typing import Any, Final

import pytest

from farref.impl.core import members, owner, user
from farref.impl.core.entries import Phase
from farref.impl.core.ids import ForkId, OwnedReference, UserReference, WaiterId, WorkerId
from farref.impl.core.members import Members
from farref.impl.core.messages import CARRIERS, Ack, Call, ChildAccept, FetchCall, ForkRequest, RemoteCall, Return
from farref.impl.core.owner import Owner
from farref.impl.core.transitions import Transitions
from farref.impl.core.user import User
from farref.impl.core.views import Buried, View, ViewSettled
from farref.impl.errors import PeerDied, ReferenceRefused, UnknownWorker, WasExcluded
from farref.impl.simulated.network import InFlight, Simulation
from tests.impl.core.simulation import A, B, C, kind, under_way
from tests.impl.core.test_schedules import Driver
from tests.impl.core.transitions import Keys, Seen, differences, everything

WIDE: Final = range(200)
AMONG_MEMBERS: Final = range(300)
CLOSE: Final = (*range(550), 1010)
"""The last one shows what is rare."""


class Roamer(Driver):
    """A driver that also refuses messages, lets code stop waiting or hold on, and outlives deaths. It checks nothing."""

    def __init__(self, random: Random, host: int = 0) -> None:
        super().__init__(random.randrange, host)
        self.steps += [self.refuse, self.hold, self.stop_waiting, self.stop_waiting]
        self.waiting: list[tuple[WorkerId, OwnedReference, WaiterId]] = []

    def roam(self, steps: int) -> None:
        self.check()
        for _ in range(steps):
            with suppress(ReferenceRefused, PeerDied, UnknownWorker, WasExcluded):
                self.step()

    def check(self) -> None:
        for flight in self.world.in_flight():
            if flight.target not in self.world.cores:
                self.world.take(flight.id)

    def worker(self) -> WorkerId:
        living = sorted(self.world.cores)
        return living[self.pick(len(living))]

    def refuse(self) -> bool:
        flights = [flight for flight in self.world.deliverable() if isinstance(flight.message, CARRIERS)]
        if flights:
            self.world.refuse(flights[self.pick(len(flights))].id)
        return bool(flights)

    def hold(self) -> bool:
        worker = self.worker()
        reference = self.handle(worker)
        if reference is not None:
            self.world.cores[worker].calls.hold(reference)
        return reference is not None

    def wait(self) -> bool:
        worker = self.worker()
        reference = self.handle(worker)
        if isinstance(reference, OwnedReference):
            self.waiting.append((worker, reference, self.world.await_value(worker, reference)))
        return isinstance(reference, OwnedReference)

    def stop_waiting(self) -> bool:
        if self.waiting:
            worker, reference, waiter = self.waiting.pop(self.pick(len(self.waiting)))
            if worker in self.world.cores:
                self.world.perform(worker, self.world.cores[worker].stop_waiting(reference, waiter))
        return bool(self.waiting)


class Overtaken(Roamer):
    """One RRef, whose creation everything overtakes until the creator dies, or the creation arrives or fails after all.

    Some other messages are late too. Which ones, and how often each kind of step is taken, is drawn.
    """

    def __init__(self, random: Random, host: int = 0) -> None:
        super().__init__(random, host)
        self.world.create_remote(A, B)
        self.late = {RemoteCall, *random.sample([ForkRequest, FetchCall, ChildAccept, Call, Ack], random.randrange(4))}
        steps = [self.share, self.fetch, self.wait, self.let_go, self.stop_waiting, self.deliver, self.deliver]
        self.steps = [step for step in steps for _ in range(random.randrange(1, 6))]

    def flight(self, control: bool | None = None) -> InFlight | None:
        flight = super().flight(control)
        return None if flight and kind(flight) in self.late and (kind(flight) is RemoteCall or self.pick(8)) else flight

    def end_lateness(self) -> None:
        self.late.clear()
        self.steps += [self.refuse, self.fail, self.finish, self.finish]


def roam_widely(random: Random) -> None:
    """Let three workers do as they like; one may die, and then another."""
    roamer = Roamer(random)
    roamer.roam(90)
    for _ in range(random.randrange(3)):
        roamer.world.kill(roamer.worker())
        roamer.roam(30)


def roam_closely(random: Random) -> None:
    """Let three workers do as they like with one RRef before it is created, or never is."""
    overtaken = Overtaken(random)
    overtaken.roam(random.randrange(30))
    if random.randrange(2):
        overtaken.world.kill(random.choice([A, A, B, C]))
    else:
        overtaken.end_lateness()
    overtaken.roam(30)


def roam_among_members(random: Random) -> None:
    """Let three workers do as they like, while some are excluded, end, or join. The excluded go on."""
    roamer = Overtaken(random, C) if random.randrange(3) else Roamer(random)
    world = roamer.world
    for _ in range(random.randrange(1, 5)):
        roamer.roam(random.randrange(40))
        lost = random.choice([who for who in world.cores if who != world.host])
        if random.randrange(3) == 0 and len(world.cores) > 2:
            world.end(lost)
        if random.randrange(3):
            world.exclude(lost)
        if random.randrange(3) == 0:
            world.join()
    roamer.roam(60)
    for flight in world.deliverable():
        world.deliver(flight.id)


def a_fetch_outlives_the_creator() -> None:
    """A user has its fork confirmed and asks for the value, and the creation that it waits for never comes."""
    world = Simulation(3)
    world.share_as_argument(A, C, world.create_remote(A, B))
    for wanted in (Call, ForkRequest, Ack):
        world.deliver(under_way(world, wanted))
    (x,) = world.handles(C)
    assert isinstance(x, UserReference)
    world.fetch(C, x)
    world.deliver(under_way(world, FetchCall))
    world.kill(A)


def a_fetch_comes_first_and_its_creator_is_excluded() -> None:
    """The owner hears of an RRef by a fetch, when its creator is excluded already."""
    world = Simulation(3, host=C)
    world.share_in_result(A, C, world.create_remote(A, B))
    world.deliver(under_way(world, Return))
    (x,) = world.handles(C)
    assert isinstance(x, UserReference)
    world.fetch(C, x)
    world.exclude(A)
    world.deliver(under_way(world, View, B))
    world.deliver(under_way(world, FetchCall))


def a_creation_is_late_while_somebody_is_buried() -> None:
    """A fork is counted before its RRef is created, and meanwhile a worker is buried."""
    world = Simulation(4, host=A)
    world.share_as_argument(A, C, world.create_remote(A, B))
    world.deliver(under_way(world, Call))
    world.deliver(under_way(world, ForkRequest))
    world.exclude(WorkerId(3))
    for wanted in (View, View, ViewSettled, ViewSettled, Buried):
        world.deliver(under_way(world, wanted))


def first(_part: object, key: Hashable, *_rest: object) -> list[Hashable]:
    """A handler whose first argument says what it is about."""
    return [key]


def named(_part: object, _source: WorkerId, message: Any, *_rest: object) -> list[Hashable]:
    """A handler of a message that names an RRef."""
    return [message.rref]


def new(*_: object) -> list[Hashable]:
    """A handler that makes something new."""
    return []


def parent(part: User, child: ForkId) -> list[Hashable]:
    """The user that a child was made from."""
    return [part.parents[child]] if child in part.parents else []


OWNER: Final[Mapping[str, Keys]] = {
    **dict.fromkeys(("create_on_self", "create_local"), new),
    **dict.fromkeys(
        ("on_remote_call", "on_create_failed", "on_fork_request", "on_user_delete", "on_fetch_call"), named
    ),
    **dict.fromkeys(("finish_function", "share", "withdraw", "await_value", "stop_waiting", "hold", "let_go"), first),
    "take_from_user": named,
    "take_from_self": lambda _, data: [data.rref],
    **dict.fromkeys(("on_peer_died", "release"), everything),
}
USER: Final[Mapping[str, Keys]] = {
    "create_remote": new,
    **dict.fromkeys(("take_from_owner", "take_from_user"), lambda _, data: [data.fork]),
    **dict.fromkeys(("confirm", "time_out_creation", "creation_failed", "share", "hold", "let_go"), first),
    **dict.fromkeys(("fetch", "abandon_fetch", "end_fetch"), first),
    "on_child_accept": lambda part, _, message: parent(part, message.fork),
    "forget_child": parent,
    **dict.fromkeys(("on_peer_died", "forget_children_of"), everything),
}
MEMBERS: Final[Mapping[str, Keys]] = dict.fromkeys(("on_view", "on_excluded", "on_buried"), everything)
STEPS: Final = ("install", "bury", "host", "exclude", "admit", "suspect", "declare_dead")


@pytest.fixture(scope="module")
def happened() -> dict[type, Seen]:
    """Everything that owners and users do in some runs."""
    owners = Seen(Owner, lambda part: {rref: entry.phase for rref, entry in part.entries.items()}, Phase.ABSENT)
    users = Seen(User, lambda part: {fork: record.phase for fork, record in part.records.items()}, user.Phase.ABSENT)
    peers = Seen(Members, lambda part: {who: part.phase(who) for who in part.known()}, members.Phase.ABSENT)
    with pytest.MonkeyPatch.context() as patch:
        owners.watch(patch, OWNER, ["let_go_of_everything", "is_kept_for"])
        users.watch(patch, USER, ["let_go_of_everything", "owner_of", "is_confirmed", "pending", "is_kept_for"])
        peers.watch(
            patch,
            MEMBERS,
            [*STEPS, "phase", "known", "keep_all", "settle", "confirmed", "answer", "on_settled", "on_suspect"],
        )
        for seed in WIDE:
            roam_widely(Random(seed))
        for seed in CLOSE:
            roam_closely(Random(seed))
        for seed in AMONG_MEMBERS:
            roam_among_members(Random(seed))
        a_fetch_outlives_the_creator()
        a_fetch_comes_first_and_its_creator_is_excluded()
        a_creation_is_late_while_somebody_is_buried()
    return {Owner: owners, User: users, Members: peers}


@pytest.mark.parametrize(
    ("part", "table"), [(Owner, owner.TRANSITIONS), (User, user.TRANSITIONS), (Members, members.TRANSITIONS)]
)
def test_the_table_says_what_happens_and_what_it_says_happens(
    part: type, table: Transitions, happened: dict[type, Seen]
) -> None:
    assert differences(happened[part].table, table) == []
