"""Where a walk can go: the node of a state under some rules, and the states that its moves lead to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from farref.exploring import tables, truth
from farref.exploring.shape import SWITCH, Message, Move, Node, NodeId, Sentence, Table, Turn, Walked, Worker
from farref.model.checker.interface import Kind, Model, Property
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import protocol_of


@dataclass(frozen=True)
class Place:
    """A state, and the rules that are followed from it."""

    world: Any
    rules: Any

    @cached_property
    def id(self) -> NodeId:
        """A short name, the same in every process."""
        return _digest(f"{_text(self.world)} {_text(self.rules)}")


@lru_cache(maxsize=8192)
def _text(value: Any) -> str:
    """Write a world or rules out. One world is asked for under many rules, and by all that lead to it."""
    return repr(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Guide:
    """Knows one bounded world: its rules at the beginning, and what must hold in it."""

    bounds: Any
    rules: Any

    @cached_property
    def about(self) -> AnyProtocol:
        """The protocol."""
        return protocol_of(self.bounds)

    @cached_property
    def key(self) -> str:
        """Name the world, so that a link of another one is not followed here.

        Bounds at their defaults and rules that are followed are left out: a link outlives what the next version adds of either.
        """
        asked = {one.name: getattr(self.bounds, one.name) for one in fields(self.bounds)}
        differing = {one.name: asked[one.name] for one in fields(self.bounds) if asked[one.name] != one.default}
        return _digest(f"{self.about.name} {sorted(differing.items())} {sorted(self._off(self.rules))}")

    @cached_property
    def first(self) -> Place:
        """Where every walk begins."""
        return Place(model_of(self.bounds, self.rules).initial, self.rules)

    @cached_property
    def properties(self) -> tuple[Property, ...]:
        """What must hold in this world: the known defects of these bounds, then the properties, then what must be reachable."""
        claims = [one.property for one in self.about.every_claim.values() if one.bounds == self.bounds]
        return (*claims, *self.about.properties(self.bounds), *self.about.witnesses(self.bounds))

    def sentences(self) -> tuple[Sentence, ...]:
        """Tell what must hold."""
        return tuple(
            Sentence(one.id, one.clause, one.kind.value, one.text, {case.label: case.text for case in one.cases})
            for one in self.properties
        )

    def turns(self, place: Place) -> Iterator[tuple[Any, Place]]:
        """List what can happen, and where it leads."""
        model = model_of(self.bounds, place.rules)
        for action in model.actions:
            after = model.step(place.world, action)
            if after is not None:
                yield action, Place(after, place.rules)

    def switched(self, place: Place, rule: str) -> Place:
        """Switch a rule from here on."""
        return Place(place.world, replace(place.rules, **{rule: not getattr(place.rules, rule)}))

    def follow(self, place: Place, move: Move) -> Place | None:
        """Take a move; None where it cannot be taken."""
        if move.startswith(SWITCH):
            rule = move.removeprefix(SWITCH)
            return self.switched(place, rule) if rule in self.about.rules else None
        model = model_of(self.bounds, place.rules)
        action = labelled(self.bounds, place.rules).get(move)
        after = None if action is None else model.step(place.world, action)
        return None if after is None else Place(after, place.rules)

    def path(self, moves: Iterable[Move]) -> Iterator[Place]:
        """Give the places of a walk, with the first one, as far as its moves can be taken."""
        place: Place | None = self.first
        for move in moves:
            assert place is not None
            yield place
            place = self.follow(place, move)
            if place is None:
                return
        assert place is not None
        yield place

    def walk(self, moves: tuple[Move, ...], begin: int = 0) -> Walked:
        """Give the nodes of a walk from some place on, as far as its moves can be taken."""
        places = list(self.path(moves))
        stopped = (
            "" if len(places) > len(moves) else f"step {len(places)}, {moves[len(places) - 1]}, cannot happen there"
        )
        return Walked(tuple(self.node(place) for place in places[begin:]), stopped)

    def status(self, place: Place) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
        """Say which cases of which properties do not hold in a state, and which situations are met."""
        broken: dict[str, tuple[str, ...]] = {}
        reached: list[str] = []
        for one in self.properties:
            if one.kind is Kind.SOMETIMES:
                reached += [one.id] if any(case.holds(place.world) for case in one.cases) else []
            elif failing := tuple(case.label for case in one.cases if not case.holds(place.world)):
                broken[one.id] = failing
        return broken, tuple(reached)

    def node(self, place: Place) -> Node:
        """Show a state."""
        observer = self.about.observer(self.bounds)  # a new one: it remembers one run, and here runs part
        seen = observer.observe(place.world)
        unseen = truth.unseen(place.world, self.bounds)
        broken, reached = self.status(place)
        return Node(
            id=place.id,
            off=self._off(place.rules),
            workers=tuple(_with(worker, unseen) for worker in tables.workers_of(seen)),
            whole=(*tables.whole_of(seen), *truth.left(place.world, self.bounds)),
            flying=tables.flying_of(seen),
            broken=broken,
            reached=reached,
            turns=tuple(self._turn(place, action, after) for action, after in self.turns(place)),
            switches={rule: self.switched(place, rule).id for rule in self.about.rules},
            edges=truth.edges_of(place.world, self.bounds, seen),
            leaves=truth.leaves_of(self.bounds, seen),
        )

    def _off(self, rules: Any) -> tuple[str, ...]:
        return tuple(rule for rule in self.about.rules if not getattr(rules, rule))

    def _turn(self, place: Place, action: Any, after: Place) -> Turn:
        moment: Any = self.about.moment(model_of(self.bounds, place.rules), action, place.world, after.world)
        ended = moment.ended
        message = None if ended is None else Message(str(ended.message), ended.source, ended.target)
        fate = None if moment.fate is None else moment.fate.value
        return Turn(str(action), moment.worker, self.about.tell(moment), after.id, message, fate)


def _with(worker: Worker, unseen: dict[str, tuple[Table, ...]]) -> Worker:
    return msgspec.structs.replace(worker, tables=(*worker.tables, *unseen.get(worker.name, ())))


@lru_cache(maxsize=64)
def model_of(bounds: Any, rules: Any) -> Model:
    """Give the model of some bounds under some rules."""
    return protocol_of(bounds).model(bounds, rules)


@lru_cache(maxsize=64)
def labelled(bounds: Any, rules: Any) -> dict[Move, Any]:
    """Give every action of such a model by its label."""
    return {str(action): action for action in model_of(bounds, rules).actions}
