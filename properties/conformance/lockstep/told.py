"""A shrunk run, taken once more so that it becomes the story of a check: its sentences, its picture and its program."""

from __future__ import annotations

from typing import Any

import msgspec

from farref.model.ids import worker_name
from farref.model.rref.actions import Action
from farref.model.rref.world import Bounds
from farref.properties.conformance.kit.steps import LOCKSTEP, Looked, MessageId
from farref.properties.conformance.kit.verbs import Entry
from farref.properties.conformance.kit.world import World
from farref.properties.conformance.lockstep.stepped import Stepped
from farref.properties.protocols import protocol_of, sound_model
from farref.properties.twin.twin import Disagreement, Twin

UNTOLD = ("start", "stop", "look")
"""What is asked of the adapter and is no step of the story."""


class Told(Stepped):
    """A backend whose steps are written down as operations of a check."""

    def __init__(self, world: World, found: Disagreement, *, restless: bool) -> None:
        super().__init__(self._asked, world.session.identity.name, restless=restless)
        self.world, self.let_through = world, False
        self._ends: dict[MessageId, tuple[str, str | None]] = {}
        protocol = protocol_of(found.bounds)
        moments = protocol.replay(sound_model(found.bounds), found.actions)
        self._sentences = [protocol.tell(moment) for moment in moments]

    def _asked(self, verb: str, request: dict[str, Any]) -> Any:
        if verb not in UNTOLD:
            pending = self.world.begin(verb, **request)
            pending.entry.between = self._between(request)
            return pending.wait()
        given = self.world.session.ask(verb, request).wait(self.world.deadline)
        if verb == "look":
            self._ends = {one.id: (one.source, one.target) for one in msgspec.convert(given, Looked).messages}
        return given

    def _between(self, request: dict[str, Any]) -> tuple[str, str | None]:
        """Say between whom a step happens: a message arrives at another; what is begun is still under way."""
        return (
            self._ends.get(request.get("message", ""), ("", None))
            if "message" in request
            else (request["worker"], None)
        )

    def start(self, bounds: Bounds) -> None:
        """Begin in the world of the check, if it is large enough."""
        workers = sorted(worker_name(one) for one in bounds.worker_ids)
        is_enough = set(workers) <= set(self.world.workers)
        self._begin_with(bounds, list(self.world.workers) if is_enough else workers)
        if not is_enough:
            self.world.note("start", workers=workers, options={LOCKSTEP: True})

    def perform(self, action: Action) -> None:
        """Take a step, in the words of the model."""
        before, sentence = len(self.world.entries), self._sentences.pop(0)
        try:
            super().perform(action)
        finally:
            for entry in self.world.entries[before : before + 1]:
                entry.text = sentence

    def attempt(self, action: Action) -> bool:
        """Try what must be refused; if it is, it is not worth a line."""
        before = len(self.world.entries)
        self.let_through = super().attempt(action)
        if not self.let_through:
            del self.world.entries[before:]
        return self.let_through


def tell(world: World, found: Disagreement, *, restless: bool) -> None:
    """Write a disagreement down as the story of a check, and mark where the trouble is."""
    told = Told(world, found, restless=restless)
    again = _taken_again(told, found)
    trouble, wanted = _trouble(told, again)
    trouble.trouble, trouble.wanted = True, wanted


def _taken_again(told: Told, found: Disagreement) -> Disagreement | None:
    try:
        twin = Twin(found.bounds, told)
        twin.take(found.actions)
        twin.check_if_over()
    except Disagreement as again:
        return again
    return None


def _trouble(told: Told, again: Disagreement | None) -> tuple[Entry, dict[str, Any] | None]:
    """Find the operation that shows the difference, and say what should have come of it."""
    entries = told.world.entries
    if told.let_through:
        return entries[-1], {"fails": ["refused"]}
    if entries and entries[-1].failure is not None:
        return entries[-1], {"succeeds": True}
    if entries and entries[-1].ended is None:
        return entries[-1], {"ends": True}
    looked = told.world.begin("look").wait()
    if again is None:
        return entries[-1], None
    entries[-1].outcome = f"otherwise than in the model: {said(again)}"
    return entries[-1], {"differs": looked}


def said(found: Disagreement) -> str:
    """Say in a line what differs."""
    return "; ".join(" ".join(line.split()) for line in found.lines)
