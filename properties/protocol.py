"""What farref can check, explain and draw: one record for each protocol, with all that the commands need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from farref.model.autograd import rules as autograd_rules
from farref.model.autograd.ids import worker_name as autograd_worker_name
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.checker.interface import Action, Counterexample, Model, Property
from farref.model.ids import WorkerId
from farref.model.rref.ids import RRefId, worker_name
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import PROFILES
from farref.model.rref.world import Bounds
from farref.properties.autograd import claims as autograd_claims
from farref.properties.autograd import limits as autograd_limits
from farref.properties.autograd import portfolio as autograd_portfolio
from farref.properties.autograd import replay as autograd_replay
from farref.properties.autograd import story as autograd_story
from farref.properties.autograd.always import autograd_properties
from farref.properties.autograd.sometimes import autograd_witnesses
from farref.properties.rref import claims, limits, meaning, portfolio, replay, story
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import Claim
from farref.properties.rref.portfolio import Configuration
from farref.properties.rref.sometimes import rref_witnesses

Rules = Any
"""A frozen dataclass with one boolean for each rule, and the rule's clause and text in the field's metadata."""


@dataclass(frozen=True)
class Subject:
    """One protocol."""

    name: str
    spec: str  # its file of clauses
    bounds: type[Any]
    broadest: Any  # bounds under which every property has something to say
    said_always: tuple[str, ...]  # the bounds that also say "one configuration", so that a command names them always
    profiles: Mapping[str, Rules]
    claims: Mapping[str, Claim]
    portfolio: tuple[Configuration, ...]
    limits_of: Callable[[str], tuple[int, int]]
    complaint: Callable[[Any], str | None]
    model: Callable[[Any, Rules], Model]
    properties: Callable[[Any], tuple[Property, ...]]
    witnesses: Callable[[Any], tuple[Property, ...]]
    replay: Callable[[Any, Iterable[Action]], Iterator[Any]]
    tell: Callable[[Any], str]
    meaning: Callable[[Counterexample, Any], str]
    owners: Callable[[Any], dict[str, tuple[str, ...]]]  # the workers' names, and what is written below them
    familiar: Callable[[Any, Iterable[Action]], tuple[Action, ...]]

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of all rules."""
        return tuple(rule.name for rule in fields(self.profiles["sound"]))

    def rules_of(self, profile: str, without: str | None) -> Rules:
        """Give the rules of a profile, or of the mutant of SOUND that lacks a rule."""
        return self.profiles[profile] if without is None else replace(self.profiles["sound"], **{without: False})

    def clause_of(self, rule: str) -> str:
        """Name the clause that states a rule."""
        return self._metadata(rule)["clause"]

    def text_of(self, rule: str) -> str:
        """Say a rule in a sentence."""
        return self._metadata(rule)["text"]

    def _metadata(self, rule: str) -> dict[str, str]:
        return next(dict(known.metadata) for known in fields(self.profiles["sound"]) if known.name == rule)


def _rref_owners(bounds: Bounds) -> dict[str, tuple[str, ...]]:
    owned = {WorkerId(worker): list[str]() for worker in range(bounds.workers)}
    for rref in map(RRefId, range(bounds.rrefs)):
        owned[bounds.owner(rref)].append(f"x{rref}")
    return {worker_name(worker): tuple(rrefs) for worker, rrefs in owned.items()}


def _autograd_owners(bounds: AutogradBounds) -> dict[str, tuple[str, ...]]:
    return {autograd_worker_name(worker): () for worker in bounds.worker_ids}


def _as_they_are(bounds: AutogradBounds, actions: Iterable[Action]) -> tuple[Action, ...]:
    del bounds  # in a graph every worker has its own place, so its name says something
    return tuple(actions)


RREF: Final = Subject(
    name="rref",
    spec="rref.md",
    bounds=Bounds,
    broadest=Bounds(shutdown=True),
    said_always=("workers", "rrefs", "forks", "drops", "duplicates"),
    profiles=PROFILES,
    claims=claims.CLAIMS,
    portfolio=portfolio.PORTFOLIO,
    limits_of=limits.limits_of,
    complaint=limits.complaint,
    model=RRefModel,
    properties=rref_properties,
    witnesses=rref_witnesses,
    replay=replay.replay,
    tell=story.tell,
    meaning=meaning.meaning,
    owners=_rref_owners,
    familiar=replay.with_familiar_names,
)

AUTOGRAD: Final = Subject(
    name="autograd",
    spec="autograd.md",
    bounds=AutogradBounds,
    broadest=AutogradBounds(passes=2),
    said_always=("graph", "passes"),
    profiles=autograd_rules.PROFILES,
    claims=autograd_claims.CLAIMS,
    portfolio=autograd_portfolio.PORTFOLIO,
    limits_of=autograd_limits.limits_of,
    complaint=autograd_limits.complaint,
    model=AutogradModel,
    properties=autograd_properties,
    witnesses=autograd_witnesses,
    replay=autograd_replay.replay,
    tell=autograd_story.tell,
    meaning=autograd_story.meaning,
    owners=_autograd_owners,
    familiar=_as_they_are,
)

SUBJECTS: Final = {subject.name: subject for subject in (RREF, AUTOGRAD)}


def subject_of(bounds: Any) -> Subject:
    """Find the protocol that some bounds are about."""
    return next(one for one in SUBJECTS.values() if one.bounds is type(bounds))
