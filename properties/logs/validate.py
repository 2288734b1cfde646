"""Is a log a behaviour of the model? If it is not, which event is the first that nothing explains?

Each RRef is explained on its own. An event that can happen is taken at once: what one worker does never makes impossible what
another does next, for a message is taken out of the network by its receiver only. So if everything is logged there is nothing
to choose, and the time is linear in the number of events. Where something is not logged, the steps that may be missing are
tried, depth first, and no situation is tried twice.

If no worker can go on, the log is refused. Named is an event that cannot happen whatever the others do, or else the earliest.
Where something is not logged, the search knows the likely steps only, so a log is refused for what is certain: an event of a
worker that has told everything so far, which waits for nobody who has not. For anything less the verdict is that there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from farref.model.rref.owner import Entry
from farref.properties.logs.by_rref import RRefLog, WorkerEvents, take_apart
from farref.properties.logs.contradictions import Contradiction, contradictions, forks_of_two
from farref.properties.logs.explain import X0, Impossible, LogWorld, Scene
from farref.properties.logs.format import BEGINNINGS, Event, Log
from farref.properties.logs.missing import helpful_steps, supposed_steps, wanted_steps

TRIES_MAX: Final = 300
GUESSED: Final = "too much is not logged to try everything that may have happened"


class LogVerdict(Enum):
    """What became of a log."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class LogFinding:
    """Why a log is no behaviour, or why that is not known."""

    outcome: LogVerdict
    reason: str
    event: Event | None = None
    rref: str | None = None


class Node(NamedTuple):
    """How far each worker's events are explained, and where that has led."""

    positions: tuple[int, ...]
    scene: Scene


def validate(log: Log) -> LogFinding | None:
    """Find the first event that no behaviour explains; None if all are explained."""
    explanations = [Explanation(rref_log) for rref_log in take_apart(log).values()]
    found = [*_gaps(log), *_late_beginnings(log), *_behind_the_end(log)]
    found += [_refused(one) for one in forks_of_two(log)]
    found += [finding for one in explanations if (finding := one.find()) is not None]
    found += [] if found else _leftovers(log, explanations)
    refused = [one for one in found if one.outcome is LogVerdict.REFUSED]
    return min(refused or found, key=_moment, default=None)


def _moment(finding: LogFinding) -> tuple[float, int]:
    return (finding.event.time, finding.event.number) if finding.event else (float("inf"), 0)


def _gaps(log: Log) -> Iterator[LogFinding]:
    """A log that calls itself complete has every number."""
    for worker in log.workers.values():
        after = worker.gap()
        if worker.header.complete and after is not None:
            yield LogFinding(
                LogVerdict.REFUSED, "the event before it is missing, and the log says it is complete", after
            )


def _late_beginnings(log: Log) -> Iterator[LogFinding]:
    """Nobody begins anything once shutdown has begun (R32)."""
    for worker in log.workers.values():
        closing = next((event.number for event in worker.events if event.event == "shut down"), None)
        for event in worker.events if closing is not None else ():
            if event.number > closing and event.event in BEGINNINGS:  # type: ignore[operator]
                yield LogFinding(LogVerdict.REFUSED, "it begins something after shutdown has begun (R32)", event)


def _behind_the_end(log: Log) -> Iterator[LogFinding]:
    """Nothing happens on a worker that has left."""
    for worker in log.workers.values():
        end = next((event.number for event in worker.events if event.event == "end"), None)
        behind = next((event for event in worker.events if end is not None and event.number > end), None)
        if behind is not None:
            yield LogFinding(LogVerdict.REFUSED, f"the worker has ended with its event {end}", behind)


def _refused(contradiction: Contradiction) -> LogFinding:
    event, objection = contradiction
    return LogFinding(LogVerdict.REFUSED, objection, event, event.rref)


def _leftovers(log: Log, explanations: list[Explanation]) -> Iterator[LogFinding]:
    """What every worker says is left at its end is what is left in the model (R32)."""
    if any(one.final is None for one in explanations) or not all(one.is_ended for one in log.workers.values()):
        return
    left = Counter(thing for one in explanations if one.final is not None for thing in one.log_world.left(one.final))
    for rank, worker in log.workers.items():
        end = worker.events[-1]
        for what in ("entries", "users", "unanswered"):
            if getattr(end, what) != left[what, rank]:
                reason = f"it says that {getattr(end, what)} {what} are left, and there are {left[what, rank]}"
                yield LogFinding(LogVerdict.REFUSED, reason, end)


class Explanation:
    """The search for a behaviour that has everything a log says about one RRef."""

    def __init__(self, rref_log: RRefLog) -> None:
        self.rref_log, self.log_world = rref_log, LogWorld(rref_log)
        self.ranks = list(rref_log.by_worker)
        self.by_place = [rref_log.by_worker[rank] for rank in self.ranks]
        self.is_strict = not any(worker.loose for worker in self.by_place)
        self.deepest: Node | None = None
        self.final: Scene | None = None  # where everything has led, if there was nothing to choose

    def find(self) -> LogFinding | None:
        """Say what is wrong; None if nothing is."""
        contradicting = [_refused(one) for one in contradictions(self.rref_log)]
        if contradicting:
            return min(contradicting, key=_moment)
        if self.rref_log.owner is None:
            return None  # nothing but a letting go: too little to contradict anything
        waiting, tried = [Node((0,) * len(self.ranks), self.log_world.start)], set[Node]()
        while waiting:
            node = self._go_on(waiting.pop())
            if self._is_explained(node):
                self.final = node.scene if self.is_strict else None
                return None
            if self.deepest is None or sum(node.positions) > sum(self.deepest.positions):
                self.deepest = node
            if self.is_strict or node in tried:
                continue
            tried.add(node)
            if len(tried) > TRIES_MAX:
                return LogFinding(LogVerdict.UNDECIDED, GUESSED, None, self.rref_log.rref)
            waiting += reversed(list(self._choices(node)))
        return self._refusal()

    # Going on

    def _go_on(self, node: Node) -> Node:
        """Take every step that need not be chosen."""
        moved = True
        while moved:
            moved = False
            for place, worker in enumerate(self.by_place):
                while (after := self._forced(node, place, worker)) is not None:
                    node, moved = after, True
        return node

    def _forced(self, node: Node, place: int, worker: WorkerEvents) -> Node | None:
        position = node.positions[place]
        if position in worker.loose:
            helped = next(helpful_steps(self.log_world, node.scene, self.ranks[place], worker.ahead(position)), None)
            return None if helped is None else node._replace(scene=helped)
        if position == len(worker.events):
            return None
        after = self._taken(node, place)
        return after if isinstance(after, Node) else None

    def _taken(self, node: Node, place: int) -> Node | Impossible:
        """Take the next event of a worker, and see that a value is dropped exactly when nobody can name it (R22)."""
        worker, position = self.by_place[place], node.positions[place]
        event = worker.events[position]
        after = self.log_world.explain(node.scene, event)
        if isinstance(after, Impossible):
            return after
        gone = _is_gone(after) and not _is_gone(node.scene)
        followed = position + 1 in worker.loose or worker.events[position + 1 : position + 2]
        if gone and (not followed or (followed is not True and followed[0].event != "drop")):
            return Impossible("nobody can name the value any more, and it is not dropped (R22)")
        return Node((*node.positions[:place], position + 1, *node.positions[place + 1 :]), after)

    def _choices(self, node: Node) -> Iterator[Node]:
        """Give what may come next where a log is silent."""
        wanted = self._wanted(node)
        for place, worker in enumerate(self.by_place):
            position, rank = node.positions[place], self.ranks[place]
            if position not in worker.loose:
                continue
            if position < len(worker.events):
                after = self._taken(node, place)
                if isinstance(after, Node):
                    yield after
            for scene in wanted_steps(self.log_world, node.scene, rank, wanted):
                yield node._replace(scene=scene)
            for scene in supposed_steps(self.log_world, node.scene, rank, wanted, worker.ahead(position)):
                yield node._replace(scene=scene)

    def _wanted(self, node: Node) -> list[tuple[str, str]]:
        heads = [event for _, event in self._heads(node)]
        return [(event.message or "", event.fork or "") for event in heads if event.event == "receive"]

    def _heads(self, node: Node) -> list[tuple[int, Event]]:
        """Give the next event of each worker that has one."""
        pairs = enumerate(zip(self.by_place, node.positions, strict=True))
        return [(place, worker.events[at]) for place, (worker, at) in pairs if at < len(worker.events)]

    # The end

    def _is_explained(self, node: Node) -> bool:
        return all(at == len(worker.events) for worker, at in zip(self.by_place, node.positions, strict=True))

    def _refusal(self) -> LogFinding:
        """Name the event to blame: one that waits for nobody, or else the earliest."""
        assert self.deepest is not None
        blocked: list[tuple[bool, float, Event, str]] = []
        for place, event in self._heads(self.deepest):
            after = self._taken(self.deepest, place)
            if isinstance(after, Impossible):
                blocked.append((not self._is_certain(event), event.time, event, after.reason))
        if not blocked:  # what is left can happen, each thing alone, and not together
            return LogFinding(LogVerdict.UNDECIDED, GUESSED, None, self.rref_log.rref)
        uncertain, _, event, reason = min(blocked, key=lambda one: one[:2])
        if self.is_strict or not uncertain:
            return LogFinding(LogVerdict.REFUSED, reason, event, self.rref_log.rref)
        return LogFinding(LogVerdict.UNDECIDED, f"{reason}, as far as could be guessed from what is logged", event)

    def _is_certain(self, event: Event) -> bool:
        """Say whether nothing that is not logged, and nothing that others do later, can make an event possible."""
        assert self.deepest is not None
        sources = {event.worker, event.worker if event.source is None else event.source}
        places = [self.ranks.index(rank) for rank in sources]
        if any(at <= self.deepest.positions[place] for place in places for at in self.by_place[place].loose):
            return False
        return all(
            rank == event.worker or self.deepest.positions[place] == len(self.by_place[place].events)
            for rank, place in zip(sources, places, strict=True)
        )


def _is_gone(scene: Scene) -> bool:
    return scene.world.owners[X0].phase is Entry.GONE
