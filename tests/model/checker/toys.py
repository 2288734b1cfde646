"""Small models whose states can be counted by hand, for trying the engines on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import permutations
from typing import Any, NamedTuple

from farref.model.checker.interface import Case, Kind, Property, Renaming
from farref.model.values import IdSet, Table, no_ids


@dataclass(frozen=True)
class Do:
    """An action with a name and perhaps a number."""

    kind: str
    which: int = 0

    def __str__(self) -> str:
        return f"{self.kind}({self.which})"


@dataclass(frozen=True)
class Toy:
    """A model made of functions: each takes the state and the action's number."""

    initial: Any
    steps: Mapping[str, Callable[[Any, int], Any]]
    size: int = 1
    renames: tuple[Renaming, ...] = ()

    @property
    def actions(self) -> Sequence[Do]:
        return [Do(kind, which) for kind in self.steps for which in range(self.size)]

    def step(self, state: Any, action: Do) -> Any:
        return self.steps[action.kind](state, action.which)

    def renamings(self) -> Iterator[Renaming]:
        return iter(self.renames)


def prop(kind: Kind, holds: Callable[[Any], bool], name: str = "") -> Property:
    return Property(name or kind.value, "", kind, "", (Case("it", holds),))


class Count(NamedTuple):
    at: int
    flag: bool = False


def counter(top: int, *, wraps: bool) -> Toy:
    """Counts up to the top, and then either stops or starts again."""

    def tick(state: Count, _: int) -> Count | None:
        if state.at == top:
            return state._replace(at=0) if wraps else None
        return state._replace(at=state.at + 1)

    return Toy(Count(0), {"tick": tick})


def graph(edges: dict[int, dict[str, int]], names: Iterable[str]) -> Toy:
    """A model that is drawn: from each number, where each action leads."""

    def go(name: str) -> Callable[[Count, int], Count | None]:
        def step(state: Count, _: int) -> Count | None:
            target = edges.get(state.at, {}).get(name)
            return None if target is None else state._replace(at=target)

        return step

    return Toy(Count(0), {name: go(name) for name in names})


class Fork(Enum):
    FREE = "free"
    LEFT = "left"
    RIGHT = "right"


class Meal(NamedTuple):
    forks: Table[Fork]
    eaten: IdSet


def philosophers(count: int) -> Toy:
    """The dining philosophers, each of whom takes the left fork first, eats once, and can starve."""

    def take_left(meal: Meal, who: int) -> Meal | None:
        if who in meal.eaten or meal.forks[who] is not Fork.FREE:
            return None
        return meal._replace(forks=meal.forks.put(who, Fork.LEFT))

    def eat(meal: Meal, who: int) -> Meal | None:
        other = (who + 1) % count
        if meal.forks[who] is not Fork.LEFT or meal.forks[other] is not Fork.FREE:
            return None
        return meal._replace(forks=meal.forks.put(who, Fork.FREE), eaten=meal.eaten.add(who))

    def turn(by: int) -> Renaming:
        return Renaming(lambda path, value: ((*path[:-1], (int(path[-1]) + by) % count), value))

    initial = Meal(Table((Fork.FREE,) * count), no_ids(count))
    return Toy(initial, {"take_left": take_left, "eat": eat}, count, tuple(turn(by) for by in range(1, count)))


class Channel(NamedTuple):
    flying: bool
    answer: bool
    unanswered: bool
    arrived: bool
    losses: int


def channel(losses: int, *, retries: bool = True) -> Toy:
    """One message over a lossy channel, sent again until it is answered."""

    def send(state: Channel, _: int) -> Channel | None:
        ready = state.unanswered and not state.flying and not state.answer
        return state._replace(flying=True) if ready and retries else None

    def arrive(state: Channel, _: int) -> Channel | None:
        return state._replace(flying=False, answer=True, arrived=True) if state.flying else None

    def settle(state: Channel, _: int) -> Channel | None:
        return state._replace(answer=False, unanswered=False) if state.answer else None

    def lose(state: Channel, _: int) -> Channel | None:
        if not state.losses or not state.flying:
            return None
        return state._replace(flying=False, losses=state.losses - 1)

    steps = {"send": send, "arrive": arrive, "settle": settle, "lose": lose}
    return Toy(Channel(True, False, True, False, losses), steps)


class Worker(Enum):
    IDLE = 0
    BUSY = 1
    DONE = 2


class Shop(NamedTuple):
    workers: Table[Worker]
    leader: int | None


def workers(count: int) -> Toy:
    """Interchangeable workers, one of whom may lead: told by an index as well as by a value that names one."""

    def start(shop: Shop, who: int) -> Shop | None:
        return shop._replace(workers=shop.workers.put(who, Worker.BUSY)) if shop.workers[who] is Worker.IDLE else None

    def finish(shop: Shop, who: int) -> Shop | None:
        return shop._replace(workers=shop.workers.put(who, Worker.DONE)) if shop.workers[who] is Worker.BUSY else None

    def lead(shop: Shop, who: int) -> Shop | None:
        return shop._replace(leader=who) if shop.leader is None and shop.workers[who] is Worker.BUSY else None

    def renaming(order: tuple[int, ...]) -> Renaming:
        def leaf(path: tuple[str | int, ...], value: Any) -> tuple[tuple[str | int, ...], Any]:
            if path[0] == "leader":
                return path, None if value is None else order[value]
            return (path[0], order[int(path[1])]), value

        return Renaming(leaf)

    orders = [order for order in permutations(range(count)) if list(order) != sorted(order)]
    initial = Shop(Table((Worker.IDLE,) * count), None)
    return Toy(initial, {"start": start, "finish": finish, "lead": lead}, count, tuple(map(renaming, orders)))
