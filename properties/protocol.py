"""What commands and campaigns have to know of a protocol: one record, which each protocol fills in.

`rref/protocol.py` and `autograd/protocol.py` fill it in, `protocols.py` lists them. Whatever is not in the record is the same
for all protocols, and is written once. The threads of a worker (`threads/subject.py`) fill in the first half: they are checked,
and no implementation is driven beside them.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Generic, TypeVar

from farref.model import rules
from farref.model.checker.interface import Counterexample, Model, Property
from farref.properties.limits import Limits, limits_of
from farref.properties.traces.replay import Moment, replay
from farref.properties.traces.story import Meaning, meaning_of
from farref.properties.twin.candidates import Candidates
from farref.properties.twin.schedule import Schedule, Temperaments, draw_schedule
from farref.properties.violation import Violation

AnyBounds = TypeVar("AnyBounds")
AnyWorld = TypeVar("AnyWorld")
AnyAction = TypeVar("AnyAction")
AnyObservation = TypeVar("AnyObservation")
Seen = TypeVar("Seen", covariant=True)

Rules = Any
"""The rules of one protocol: a record that is a `farref.model.rules.Rules`."""


Judgement = Callable[[Any, Sequence[Any], Collection[str]], list[Violation]]
"""What is violated in a world, after a run from the start, of whatever was touched."""


def unjudged(world: Any, actions: Sequence[Any], touched: Collection[str]) -> list[Violation]:
    """Say nothing: there is nothing to say, or the run is not known from its start."""
    del world, actions, touched
    return []


@dataclass(frozen=True)
class Claim:
    """One known defect, of PyTorch's rules or of ours: what breaks, where it breaks, and the clause that is concerned.

    `title` and `text` tell of the defect. What is checked is the opposite, `must_hold`.
    """

    id: str
    title: str
    text: str
    bounds: Any  # those of its protocol
    clause: str
    property: Property
    without: str | None = None  # the rule that the sound rules break it without, if it is theirs

    def must_hold(self) -> str:
        """Give the sentence that must hold, and that the rules break."""
        return self.property.text


@dataclass(frozen=True)
class Configuration:
    """One bounded world, and what it is there for."""

    name: str
    bounds: Any  # those of its protocol
    why: str


class Observer(typing.Protocol[Seen]):
    """Looks at the worlds of one run of the model."""

    def observe(self, world: Any, /) -> Seen:
        """Look at a world."""


@dataclass(frozen=True)
class Subject(Generic[AnyBounds, AnyWorld, AnyAction]):
    """What `farref check` can check: a model, what must hold of it, and how its runs are told."""

    name: str
    spec: str  # its file of clauses

    # Worlds, and what must hold in them
    bounds: type[AnyBounds]
    broadest: AnyBounds  # bounds under which every property has something to say
    said_always: tuple[str, ...]  # the bounds that also say "one configuration", so that a command names them always
    limits: Limits
    complaint: Callable[[AnyBounds], str | None]
    profiles: Mapping[str, Rules]
    model: Callable[[AnyBounds, Rules], Model]
    properties: Callable[[AnyBounds], tuple[Property, ...]]
    witnesses: Callable[[AnyBounds], tuple[Property, ...]]
    claims: Mapping[str, Claim]  # what PyTorch's rules break
    gaps: Mapping[str, Claim]  # what ours break, all or without one, as a link breaks and both ends live
    portfolio: tuple[Configuration, ...]

    # Stories
    moment: Callable[[Any, AnyAction, AnyWorld, AnyWorld], Moment[Any, AnyWorld, AnyAction, Any]]
    happens: Callable[[Any], str]  # what happens in a step
    consequences: Callable[[Any], Iterable[str]]  # and what follows from it
    meanings: Mapping[str, Meaning]  # what each property means if it is violated; of a claim its text
    owners: Callable[[AnyBounds], dict[str, tuple[str, ...]]]  # the workers' names, and what is written below them
    familiar: Callable[[AnyBounds, Iterable[AnyAction]], tuple[AnyAction, ...]]

    def limits_of(self, bound: str) -> tuple[int, int]:
        """Tell the smallest and the largest value of a bound."""
        return limits_of(bound, self.limits)

    def replay(self, model: Model, actions: Iterable[AnyAction]) -> Iterator[Any]:
        """Take a run again."""
        return replay(self.moment, model, actions)

    def tell(self, moment: Any) -> str:
        """Tell one step: what happens, then what follows from it."""
        return "; ".join([self.happens(moment), *self.consequences(moment)])

    def meaning(self, counterexample: Counterexample, end: Any) -> str:
        """Say what a counterexample means, which ends with this moment."""
        texts = {claim.id: claim.text for claim in self.every_claim.values()}
        return meaning_of(counterexample, end, texts | {**self.meanings})

    @property
    def every_claim(self) -> Mapping[str, Claim]:
        """What some rules break, PyTorch's or ours, by id."""
        return {**self.claims, **self.gaps}

    @property
    def sound(self) -> rules.Rules:
        """The rules, all of them followed."""
        found: rules.Rules = self.profiles["sound"]
        return found

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of all rules."""
        return self.sound.names()

    def rules_of(self, profile: str, without: str | None) -> Rules:
        """Give the rules of a profile, or of the mutant of SOUND that lacks a rule."""
        return self.profiles[profile] if without is None else self.sound.without(without)

    def clause_of(self, rule: str) -> str:
        """Name the clause that states a rule."""
        return self.sound.clause_of(rule)

    def text_of(self, rule: str) -> str:
        """Say a rule in a sentence."""
        return self.sound.text_of(rule)


@dataclass(frozen=True)
class Protocol(Subject[AnyBounds, AnyWorld, AnyAction], Generic[AnyBounds, AnyWorld, AnyAction, AnyObservation]):
    """One protocol between workers, which an implementation can be compared with.

    What can be observed is plain data that compares equal, with `flying`, the messages under way.
    """

    # Schedules
    faults: Mapping[str, tuple[type, ...]]  # the faults that are counted, and the actions that are such a fault
    needs: Mapping[str, str]  # the bound that has to allow a fault
    situations: Callable[[AnyBounds], tuple[Property, ...]]  # the awkward situations of a world of some size
    everything: AnyBounds  # bounds in which all of them can be reached
    draw_bounds: Callable[[Random, dict[str, Any]], AnyBounds]  # some of them may be fixed
    unfit: Callable[[dict[str, Any]], str | None]  # what is wrong with bounds that are fixed
    temperaments: Temperaments
    candidates: type[Candidates[Any, AnyWorld]]
    smaller: Callable[
        [AnyBounds, tuple[AnyAction, ...]], Iterable[tuple[AnyBounds, tuple[AnyAction, ...]]]
    ]  # the same run in smaller worlds

    # Beside an implementation
    observer: Callable[[AnyBounds], Observer[AnyObservation]]
    lines: Callable[[AnyObservation], list[str]]  # an observation, one line for each fact
    prompt: Callable[[AnyWorld, AnyBounds], AnyAction | None]  # what an implementation does at once
    forbidden: Callable[[AnyWorld, AnyBounds], Iterable[AnyAction]]  # what could be tried now and must be refused
    touched: Callable[[AnyBounds], Callable[[AnyWorld, AnyWorld], Collection[str]]]  # whom a step can have concerned
    proved: Callable[[AnyBounds], Judgement]  # the clauses of the proof, of whatever was touched in a run
    truth: Callable[[AnyWorld, AnyBounds], Any]  # what applications know, where an implementation does not say
    visible: Callable[
        [AnyObservation, Any, Iterable[str]], list[Violation]
    ]  # what those named violate, as far as is seen
    left: Callable[[AnyWorld, AnyObservation, AnyBounds], list[str]]  # what is left although nothing more can happen

    def draw(self, seed: int, number: int, fixed: dict[str, Any]) -> Schedule:
        """Draw a schedule; bounds that are fixed are the same in all of them."""
        return draw_schedule(
            seed, number, lambda random: self.draw_bounds(random, fixed), self.sorts, self.temperaments
        )

    @cached_property
    def every_situation(self) -> frozenset[str]:
        """The names of the awkward situations, whatever the size of a world."""
        return frozenset(one.id for one in self.situations(self.everything))

    @property
    def sorts(self) -> Mapping[str, tuple[type, ...]]:
        """The sorts of step, and the actions of each."""
        return self.candidates.sorts


AnySubject = Subject[Any, Any, Any]
AnyProtocol = Protocol[Any, Any, Any, Any]
