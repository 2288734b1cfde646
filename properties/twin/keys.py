"""How a number becomes a step. Hypothesis draws numbers, then leaves some of them out and makes others smaller.

The number is a key. In a world every sort of step, and every possible step, gets a mark that is mixed from the key and its
name, and the highest mark wins. So steps are drawn as often as in a campaign: the temperament (`schedule.py`) weighs the sorts.
And a key goes on to mean the same step when other steps have become possible or impossible. If it were a place in a list,
leaving out one step would change all later ones, and nothing could be shrunk.

Key 0 is special: it is the step that brings a run to its end soonest. It delivers what is under way, begins nothing new as
long as it can, and does harm last.

Some kinds of message are kept back (`schedule.py`). In most such runs the message then failed, or was never sent, as the run
began with a step that does without it. So three of four runs are patient: they put off such steps as long as there is another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from zlib import crc32

from farref.model.actions import FailCall
from farref.model.checker.interface import Action
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import protocol_of, sound_model
from farref.properties.twin.candidates import LATE
from farref.properties.twin.schedule import Temperaments, draw_schedule

KEYS: Final = 1 << 12
"""How many keys there are."""

TEMPERS: Final = 1 << 12
"""How many temperaments there are; each follows from its number."""

KEPT_BACK: Final = (1, 2, 3, 5)
"""How many kinds of message a run keeps back: more than in campaigns, as there are fewer runs."""

STRESS: Final = 3
"""By how much more often than in campaigns it is the kinds that campaigns keep back most."""

HIGHEST: Final = (1 << 61) - 1


class Keys:
    """Says which step a key stands for, in the worlds of one run."""

    def __init__(self, bounds: Any, temper: int = 0) -> None:
        protocol, self.model, self.temper = protocol_of(bounds), sound_model(bounds), temper
        schedule = draw_schedule(
            temper, 0, lambda _: bounds, protocol.sorts, _stressed(protocol.temperaments), KEPT_BACK
        )
        self.candidates = protocol.candidates(self.model, schedule.late)
        self.eagerness = {sort: eager for sort, eager in schedule.eagerness if self.candidates.has(sort)}
        self.soonest = sorted(self.eagerness, key=lambda sort: _lateness(sort, protocol))
        self.is_patient = temper % 4 != 0
        without = protocol.temperaments.without
        self.awaited = {kind for kind in schedule.late if kind in without}
        self.put_off = {one for kind in self.awaited for one in without[kind]}
        self.names: dict[int, int] = {}

    def step(self, key: int, world: Any) -> Action | None:
        """Give the step that a key stands for in a world; None if nothing can happen any more."""
        put_off = []
        for action in self._in_order(key, world):
            if key and self.is_patient and self._is_put_off(action):
                put_off.append(action)
            elif self.model.step(world, action) is not None:
                return action
        return next((action for action in put_off if self.model.step(world, action) is not None), None)

    def _in_order(self, key: int, world: Any) -> Iterator[Action]:
        for sort in self._sorts(key):
            candidates = self.candidates.of(sort, world)
            if key:
                candidates.sort(key=lambda action: self._mark(key, self._name(action)), reverse=True)
            yield from candidates

    def _is_put_off(self, action: Action) -> bool:
        """Say whether an action does without a message that is kept back and waited for, or ends one."""
        if isinstance(action, FailCall):
            return type(action.message).__name__ in self.awaited
        return type(action).__name__ in self.put_off

    def _sorts(self, key: int) -> list[str]:
        """Order the sorts of step by their marks, so that each comes first as often as the temperament is eager for it."""
        if not key:
            return self.soonest
        marks = {sort: self._mark(key, crc32(sort.encode())) ** (1.0 / eager) for sort, eager in self.eagerness.items()}
        return sorted(marks, key=lambda sort: marks[sort], reverse=True)

    def _mark(self, key: int, name: int) -> float:
        """Mix a key and a name into a number from 0 to 1. Python mixes whole numbers the same way in every process."""
        return hash((self.temper, key, name)) % HIGHEST / HIGHEST

    def _name(self, action: Action) -> int:
        """Give a number for a step that is the same in worlds of any size."""
        name = self.names.get(id(action))  # the model keeps its actions, and comparing them by value takes long
        if name is None:
            name = self.names[id(action)] = crc32(str(action).encode())
        return name


def _stressed(average: Temperaments) -> Temperaments:
    kinds = {kind: count if count == 1 else STRESS * count for kind, count in average.kinds.items()}
    return replace(average, kinds=kinds)


def _lateness(sort: str, protocol: AnyProtocol) -> tuple[bool, bool, int]:
    """Order sorts for an end that comes soon: deliveries, then what ends something, what begins something, harm."""
    harm = {kind for kinds in protocol.faults.values() for kind in kinds}
    is_harm = not harm.isdisjoint(protocol.sorts[sort])
    return is_harm, sort not in ("deliver", LATE), -list(protocol.sorts).index(sort)
