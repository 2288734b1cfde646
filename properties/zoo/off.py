"""The protocol without one of its rules, and the oracle without one of its properties.

Nothing here is written by hand: every rule of a model is a creature, and so is every property that is never looked at. A rule
is a decision of the protocol that could have gone the other way. A property is a part of what judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from farref.properties.proof.subjects import SUBJECTS
from farref.properties.protocol import AnySubject
from farref.properties.protocols import CHECKED
from farref.properties.zoo.creature import PYTORCH, Creature

RULE: Final = "a rule"
ORACLE: Final = "the oracle"
"""Where they come from; a rule that PyTorch does not follow comes from there."""


@dataclass(frozen=True, kw_only=True)
class RuleOff(Creature):
    """The protocol without one rule."""

    subject: str
    rule: str
    is_modelled: bool
    theorems_of: tuple[str, ...]
    """The subjects of `farref prove` that know the rule and speak of it."""


@dataclass(frozen=True, kw_only=True)
class PropertyOff(Creature):
    """A judge that never looks at one property."""

    subject: str
    property: str


@lru_cache(maxsize=1)
def rules_off() -> dict[str, RuleOff]:
    """Leave out each rule of each model, and each further rule of the proofs."""
    modelled = [_modelled(about, rule) for about in CHECKED.values() for rule in about.rules]
    known = {one.rule for one in modelled}
    proved = [_proved(name, rule) for name, one in SUBJECTS.items() for rule in one.rules if rule not in known]
    return {one.name: one for one in (*modelled, *proved)}


def _modelled(about: AnySubject, rule: str) -> RuleOff:
    is_pytorchs = "torch" in about.profiles and not getattr(about.profiles["torch"], rule)
    speak = [name for name, one in SUBJECTS.items() if rule in one.rules and rule not in one.silent]
    return RuleOff(
        name=f"{about.name}.without.{rule}",
        says=f"It is not so that {about.text_of(rule)}.",
        clause=about.clause_of(rule),
        origin=f"{PYTORCH}2.13" if is_pytorchs else RULE,
        caught_by=(f"farref check {about.name} --without {rule}",),
        subject=about.name,
        rule=rule,
        is_modelled=True,
        theorems_of=tuple(name for name in speak if _is_about(name, about.name)),
    )


def _is_about(proof: str, subject: str) -> bool:
    """Say whether a subject of the proofs is the protocol of a model, or a part of it."""
    return proof == subject or (subject == "rref" and proof == "views")


def _proved(name: str, rule: str) -> RuleOff:
    return RuleOff(
        name=f"{name}.without.{rule}",
        says=f"It is not so that {rule.replace('_', ' ')}.",
        clause=CLAUSES.get(name, "R7"),
        origin=RULE,
        caught_by=(f"farref prove {name} --without {rule}",),
        subject="autograd" if name == "autograd" else "rref",
        rule=rule,
        is_modelled=False,
        theorems_of=(name,) if rule not in SUBJECTS[name].silent else (),
    )


CLAUSES: Final = {"window": "R7", "autograd": "A25", "views": "R40"}
"""The clause that the further rules of a proof are about."""


@lru_cache(maxsize=1)
def properties_off() -> dict[str, PropertyOff]:
    """Leave out each property of each model, one at a time."""
    found = [
        PropertyOff(
            name=f"{about.name}.blind.{one.id}",
            says=f"Nobody looks at this: {one.text}",
            clause=one.clause,
            origin=ORACLE,
            caught_by=(f"farref check {about.name} --each rule",),
            subject=about.name,
            property=one.id,
        )
        for about in CHECKED.values()
        for one in about.properties(about.broadest)
    ]
    return {one.name: one for one in found}
