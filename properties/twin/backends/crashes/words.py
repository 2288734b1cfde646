"""What the words of a story mean on the simulated network."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from farref.impl.core.effects import DropValue, Effect
from farref.impl.core.ids import OwnedReference, Reference, RRefId, UserReference, WorkerId
from farref.impl.core.messages import CARRIERS, Control
from farref.impl.simulated.network import InFlight, Simulation

HOST: Final = WorkerId(0)
LETTERS: Final = "ABCDE"


def worker(letter: str) -> WorkerId:
    """Find a worker by its letter. Worker 0 has none: it hosts the authority, and plays no other part."""
    return WorkerId(1 + LETTERS.index(letter))


def kind(flight: InFlight) -> str:
    """Say what a message is; a numbered one is what it carries."""
    return type(flight.message.body if isinstance(flight.message, Control) else flight.message).__name__


class NotNowError(Exception):
    """A step cannot be taken: it is about a message or a handle that is not there."""


class Stage(Simulation):
    """A world in which a story is played, and in which nobody who is not buried may lose a value (R46)."""

    def __init__(self) -> None:
        super().__init__(1 + len(LETTERS), HOST)
        self.rrefs: dict[str, RRefId] = {}
        self.lost_values: list[str] = []
        """Values that were dropped while somebody could still name them."""

    def play(self, line: str) -> None:
        """Take one step of a story."""
        for pattern, step in COMPILED:
            if found := pattern.fullmatch(line):
                if "'s " not in line and worker(line[0]) not in self.cores:
                    raise NotNowError(f"{line[0]} has ended")
                step(self, *found.groups())
                return
        raise ValueError(f"no step of a story is called {line!r}")

    def handle(self, letter: str, name: str) -> Reference:
        """Find what a worker holds of a value."""
        if name in self.rrefs and worker(letter) in self.cores:
            for reference in self.handles(worker(letter)):
                if reference.rref == self.rrefs[name]:
                    return reference
        raise NotNowError(f"{letter} holds no {name}")

    def message(self, source: str, name: str, target: str) -> InFlight:
        """Find the oldest message of a kind on its way from one worker to another."""
        for flight in self.deliverable():
            if (flight.source, kind(flight), flight.target) == (worker(source), name, worker(target)):
                return flight
        raise NotNowError(f"no {name} is on its way from {source} to {target}")

    def perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step asks for, and look at each value that is dropped."""
        for effect in effects:
            if isinstance(effect, DropValue) and (named := self._named(worker, effect.rref)):
                self.lost_values.append(f"worker {worker} drops {effect.rref}, and {named}")
        super().perform(worker, effects)

    def _named(self, owner: WorkerId, rref: RRefId) -> str:
        """Say who that is not buried can still name a value (R46)."""
        buried = self.cores[owner].here.buried
        for who, core in self.cores.items():
            if who not in buried and any(record.rref == rref for record in core.user.records.values()):
                return f"worker {who} holds it"
        for flight in self.in_flight():
            forks = flight.message.forks if isinstance(flight.message, CARRIERS) else ()
            is_heard = flight.source not in self.cores[flight.target].dead
            if is_heard and any(data.rref == rref and data.owner == owner for data in forks):
                return f"it is on its way to worker {flight.target}"
        return ""


def _create(stage: Stage, source: str, name: str, target: str) -> None:
    stage.rrefs[name] = stage.create_remote(worker(source), worker(target)).rref


def _make(stage: Stage, who: str, name: str) -> None:
    stage.rrefs[name] = stage.create_local(worker(who)).rref


def _pass(stage: Stage, source: str, name: str, target: str) -> None:
    stage.share_as_argument(worker(source), worker(target), stage.handle(source, name))


def _return(stage: Stage, source: str, name: str, target: str) -> None:
    stage.share_in_result(worker(source), worker(target), stage.handle(source, name))


def _finish(stage: Stage, who: str, name: str) -> None:
    entry = stage.cores[worker(who)].owner.entries.get(stage.rrefs[name]) if name in stage.rrefs else None
    if entry is None or not entry.running:
        raise NotNowError(f"nothing computes {name} on {who}")
    stage.finish_function(worker(who), stage.rrefs[name])


def _fetch(stage: Stage, who: str, name: str) -> None:
    reference = stage.handle(who, name)
    assert isinstance(reference, UserReference), "an owner awaits its value"
    stage.fetch(worker(who), reference)


def _await(stage: Stage, who: str, name: str) -> None:
    reference = stage.handle(who, name)
    assert isinstance(reference, OwnedReference), "a user fetches the value"
    stage.await_value(worker(who), reference)


def _drop(stage: Stage, who: str, name: str) -> None:
    stage.let_go(worker(who), stage.handle(who, name))


def _repeat(stage: Stage, source: str, name: str, target: str) -> None:
    for peer, number, body, _ in stage.cores[worker(source)].channel.unanswered():
        if peer == worker(target) and type(body).__name__ == name:
            stage.retry(worker(source), peer, number)
            return
    raise NotNowError(f"{source} has no {name} to repeat")


_A, _X, _KIND = "([A-E])", "([a-z])", r"(\w+)"

STEPS: Final[tuple[tuple[str, Callable[..., Any]], ...]] = (
    (f"{_A} creates {_X} on {_A}", _create),
    (f"{_A} makes {_X}", _make),
    (f"{_A} passes {_X} to {_A}", _pass),
    (f"{_A} returns {_X} to {_A}", _return),
    (f"{_A} finishes {_X}", _finish),
    (f"{_A} fetches {_X}", _fetch),
    (f"{_A} awaits {_X}", _await),
    (f"{_A} drops {_X}", _drop),
    (f"{_A} repeats {_KIND} to {_A}", _repeat),
    (f"{_A}'s {_KIND} to {_A}", lambda stage, *which: stage.deliver(stage.message(*which).id)),
    (f"{_A}'s {_KIND} to {_A} fails", lambda stage, *which: stage.fail(stage.message(*which).id)),
    (f"{_A}'s {_KIND} to {_A} is lost", lambda stage, *which: stage.drop(stage.message(*which).id)),
    (f"{_A}'s {_KIND} to {_A} is refused", lambda stage, *which: stage.refuse(stage.message(*which).id)),
)
"""How each step is written, and what it does."""

COMPILED: Final = tuple((re.compile(pattern), step) for pattern, step in STEPS)
