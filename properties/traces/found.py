"""Runs that the checker found, for a backend to take: what it takes a search to find, a walk finds by luck only.

There are the shortest run to each awkward situation (`sometimes.py`), and the shortest run to each defect: of PyTorch's rules,
and of the sound ones without each rule in turn. A defect cannot happen in the sound protocol. So of such a run the longest
beginning is taken that can, which leads right up to where things would go wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from farref.model.checker import fast
from farref.model.rref.actions import Action
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import RULES, SOUND, TORCH
from farref.model.rref.world import Bounds
from farref.properties.protocol import Configuration
from farref.properties.protocols import sound_model
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.sometimes import rref_witnesses


@dataclass(frozen=True)
class Run:
    """A run, and what it was found for."""

    name: str
    bounds: Bounds
    actions: tuple[Action, ...]


def witness_runs(configurations: Iterable[Configuration]) -> Iterator[Run]:
    """Give the shortest run to each awkward situation of some configurations."""
    for one in configurations:
        result = fast.check(RRefModel(one.bounds), rref_witnesses(one.bounds))
        for name, actions in result.witnesses.items():
            yield Run(f"{name} ({one.name})", one.bounds, tuple(actions))


def claim_runs() -> Iterator[Run]:
    """Give the shortest run to each known defect of PyTorch, as far as the sound protocol goes along."""
    for claim in CLAIMS.values():
        found = fast.check(RRefModel(claim.bounds, TORCH), [claim.property]).counterexample
        if found is not None:
            yield Run(claim.id, claim.bounds, sound_beginning(claim.bounds, found.actions))


def mutant_runs(configurations: Iterable[Configuration]) -> Iterator[Run]:
    """Give the shortest run to what each missing rule breaks, as far as the sound protocol goes along."""
    for one in configurations:
        for rule in RULES:
            result = fast.check(RRefModel(one.bounds, SOUND.without(rule)), rref_properties(one.bounds))
            for name, found in result.counterexamples.items():
                beginning = sound_beginning(one.bounds, found.actions)
                yield Run(f"{name} without {rule} ({one.name})", one.bounds, beginning)


def sound_beginning(bounds: Any, actions: Iterable[Any]) -> tuple[Any, ...]:
    """Give the longest beginning of a run that can happen in the sound protocol."""
    model, taken = sound_model(bounds), list[Any]()
    world = model.initial
    for action in actions:
        after = model.step(world, action)
        if after is None:
            break
        world = after
        taken.append(action)
    return tuple(taken)
