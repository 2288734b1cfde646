"""The autograd model beside the proof of releases, by the checker's fast engine (`whole.py` says how that works).

The proof remembers of each call that it was sent, and how it ended. A world forgets that with its contexts, so a state has a
`Past` besides. In the model the creator hears of its own calls at once, and sees at once that all is accounted for. In the
proof these are steps of their own. So a step of the model is one of the proof, and maybe one or both of those after it. Worlds
with deaths are not compared: the theorem leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from farref.model.actions import Deliver, Duplicate, FailCall
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.ids import CREATOR, PairId
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import SOUND, AutogradRules
from farref.model.autograd.worker import Context
from farref.model.autograd.world import Bounds, World
from farref.model.checker.interface import Case, Property
from farref.model.ids import WorkerId
from farref.model.values import IdSet, no_ids
from farref.properties.proof.autograd.release import C, W, steps
from farref.properties.proof.autograd.release_invariant import CONTEXT, FORGET
from farref.properties.proof.link.beside import Beside, properties_of
from farref.properties.proof.link.grounded import (
    Frame,
    GroundStep,
    Holds,
    Question,
    differs,
    ground_about,
    ground_steps,
)
from farref.properties.proof.logic.small import Fact
from farref.properties.proof.subjects import AUTOGRAD

CONTEXTS: Final = {"open": Context.OPEN, "closed": Context.CLOSED, "forgotten": Context.GONE}
ABOUT_WORKERS: Final[dict[str, type[msg.CleanupContext | msg.Closed | msg.Forget]]] = {
    "cleaning": msg.CleanupContext, "reporting": msg.Closed, "forgetting": msg.Forget
}  # fmt: skip
KNOWN: Final = {"owed": "sent", "accounted": "settled", "asked": "asked", "entered": "closed"}
"""What the creator knows, by the fields of its record of the release."""

ARRIVALS: Final = ("a call arrives", "a call arrives at a closed context", "a call arrives at the creator, closed")
FAILURES: Final = ("a call fails", "a call fails, its sender closed")


class Past(NamedTuple):
    """The calls that were ever sent, that arrived in time, and that failed in time."""

    sent: IdSet
    arrived: IdSet
    failed: IdSet


class Linked(NamedTuple):
    """A world, with what became of its calls, and whether any step so far was not the proof's."""

    world: World
    past: Past
    differs: bool = False


class Taken(NamedTuple):
    """A step of the proof, by the names of its ways, and where it is taken."""

    names: tuple[str, ...]
    call: int = 0
    worker: int = 0


def frame_of(bounds: Bounds) -> Frame:
    """List the calls and workers, and who sends each call to whom. There is one graph."""
    [graph] = bounds.catalogue
    functions: dict[Fact, Any] = {("creator",): f"w{CREATOR}"}
    for number, pair in enumerate(graph.pairs):
        functions |= {("source", f"c{number}"): f"w{pair.source}", ("target", f"c{number}"): f"w{pair.target}"}
    calls, workers = (tuple(f"c{one}" for one in bounds.pair_ids), tuple(f"w{one}" for one in bounds.worker_ids))
    return Frame({"Call": calls, "Worker": workers}, functions)


# -- looking up a fact -------------------------------------------------------------------------------------------------


def facts_of(state: Linked, bounds: Bounds) -> Holds:
    """Give the facts of a state, each looked up when it is asked for."""
    return lambda fact: _look(str(fact[0]), int(str(fact[1])[1:]) if fact[1:] else CREATOR, state, bounds)


def _look(name: str, number: int, state: Linked, bounds: Bounds) -> bool:
    world = state.world
    if name in CONTEXTS:
        return world.workers[number].context is CONTEXTS[name]
    if name in ABOUT_WORKERS:
        return is_new(world, ABOUT_WORKERS[name](WorkerId(number)), bounds)
    if name in KNOWN:
        return number in getattr(world.release, KNOWN[name])
    match name:
        case "flying":
            return is_new(world, msg.ForwardCall(PairId(number)), bounds)
        case "settling":
            return any(is_new(world, msg.Settled(PairId(number), failed), bounds) for failed in (False, True))
        case "done":
            return world.workers[CREATOR].context is Context.GONE
        case "resurrected":
            return bool(world.workers[number].resurrected)
        case _:
            return number in getattr(state.past, name)


def is_new(world: World, message: msg.Message, bounds: Bounds) -> bool:
    """Say whether a message is under way, lost or not, and has not taken effect."""
    place = bounds.places.get(message)
    if place is None or world.network.carried[place] is None:
        return False
    return place not in world.network.processed or isinstance(message, msg.ForwardCall)


def touched(old: Linked, new: Linked, bounds: Bounds) -> Iterator[Fact]:
    """List the facts that a step of the model may have changed. Parts that are the same are not looked at."""
    for who in old.world.workers.differences(new.world.workers):
        yield from ((one, f"w{who}") for one in (*CONTEXTS, "resurrected"))
        yield ("done",)
    if old.world.release != new.world.release:
        yield from ((one, f"c{call}") for one in ("owed", "accounted") for call in bounds.pair_ids)
        yield from ((one, f"w{who}") for one in ("asked", "entered") for who in bounds.worker_ids)
    messages = list(bounds.places)
    for place in old.world.network.carried.differences(new.world.network.carried):
        match messages[place]:
            case msg.ForwardCall(pair):
                yield from ((one, f"c{pair}") for one in ("flying", "sent", "arrived", "failed"))
            case msg.Settled(pair):
                yield "settling", f"c{pair}"
            case msg.CleanupContext(who) | msg.Closed(who) | msg.Forget(who):
                yield from ((one, f"w{who}") for one in ABOUT_WORKERS)
            case _:
                continue


# -- which steps an action is ------------------------------------------------------------------------------------------


def path_of(before: World, action: act.Action, after: World, bounds: Bounds) -> Iterator[Taken]:
    """List the steps of the proof that an action is: what happens, and what the creator tells itself at once."""
    match action:
        case act.SendTensors(pair) | act.SendDetached(pair):
            yield Taken(("a call is sent",), pair)
        case act.ReleaseContext():
            yield Taken(("Release",))
        case FailCall(msg.ForwardCall(pair)):
            yield Taken(FAILURES, pair)
            sender = bounds.catalogue[0].pairs[pair].source
            if sender == CREATOR and before.workers[CREATOR].context is Context.CLOSED:
                yield Taken(("Settled",), pair)
        case Deliver(message) | Duplicate(message) if is_new(before, message, bounds):
            yield from _arrival(message)
        case _:
            return
    if before.workers[CREATOR].context is not Context.GONE and after.workers[CREATOR].context is Context.GONE:
        yield Taken(("Drained",))


def _arrival(message: msg.Message) -> Iterator[Taken]:
    match message:
        case msg.ForwardCall(pair):
            yield Taken(ARRIVALS, pair)
        case msg.Settled(pair):
            yield Taken(("Settled",), pair)
        case msg.CleanupContext(who) | msg.Closed(who) | msg.Forget(who):
            yield Taken((type(message).__name__,), worker=who)
        case _:
            return


def _remembered(past: Past, before: World, step: Taken, bounds: Bounds) -> Past:
    ends = bounds.catalogue[0].pairs[step.call] if bounds.catalogue[0].pairs else None
    match step.names:
        case ("a call is sent",):
            return past._replace(sent=past.sent.add(step.call))
        case names if names is ARRIVALS and ends and before.workers[ends.target].context is not Context.CLOSED:
            return past._replace(arrived=past.arrived.add(step.call))
        case names if names is FAILURES and ends and before.workers[ends.source].context is not Context.CLOSED:
            return past._replace(failed=past.failed.add(step.call))
        case _:
            return past


# -- the model beside the proof ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinkedModel(Beside):
    """The model, each of whose steps is compared with the proof as it is taken."""

    bounds: Bounds
    rules: AutogradRules = SOUND
    _known: dict[Taken, tuple[GroundStep, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def model(self) -> AutogradModel:
        """The model itself."""
        return AutogradModel(self.bounds, self.rules)

    @cached_property
    def frame(self) -> Frame:
        """What there is."""
        return frame_of(self.bounds)

    @property
    def initial(self) -> Linked:
        """The world in which nothing has happened yet, or everything is recorded."""
        world, none = self.model.initial, no_ids(len(self.bounds.pair_ids))
        recorded = none if self.bounds.forward else IdSet(True for _ in none)
        return Linked(world, Past(recorded, recorded, none))

    def step(self, state: Linked, action: act.Action) -> Linked | None:
        """Take a step of the model, and note whether it is the proof's."""
        world = self.model.step(state.world, action)
        if world is None:
            return None
        path, past = list(path_of(state.world, action, world, self.bounds)), state.past
        for one in path:
            past = _remembered(past, state.world, one, self.bounds)
        after = state._replace(world=world, past=past)
        before, now = facts_of(state, self.bounds), facts_of(after, self.bounds)
        is_other = differs(map(self._ways, path), before, now, touched(state, after, self.bounds))
        return after._replace(differs=state.differs or is_other)

    def _ways(self, step: Taken) -> tuple[GroundStep, ...]:
        """Write every way of a step where it is taken, once."""
        if step not in self._known:
            meant = {C: f"c{step.call}", W: f"w{step.worker}"}
            cases = [one for one in steps(CONTEXT.state, AUTOGRAD.sound) if one.name in step.names]
            self._known[step] = ground_steps(cases, CONTEXT.state, self.frame, meant)
        return self._known[step]


def properties(bounds: Bounds) -> tuple[Property, ...]:
    """Give every clause and property of the proof to the checker, and that every step is one of the proof."""
    frame = frame_of(bounds)
    return properties_of((*FORGET.invariant, *FORGET.goals), "A26", lambda one: _cases(one, frame, bounds))


def _cases(clause: Any, frame: Frame, bounds: Bounds) -> Iterator[Case]:
    for thing in frame.things[clause.sorts[0].name]:
        question = ground_about(clause, CONTEXT.state, frame, thing)
        if not isinstance(question, bool):
            yield Case(str(thing), _looked_up(question, bounds))


def _looked_up(question: Question, bounds: Bounds) -> Any:
    return lambda state: question(facts_of(state, bounds))
