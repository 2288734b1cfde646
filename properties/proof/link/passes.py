"""The autograd model beside the proof of passes, by the checker's fast engine (`whole.py` says how that works).

The proof remembers of each message what became of it, and the model does not. So a state has a `Past` besides its world. What
a root tells itself takes effect at once in the model, and is a step of its own in the proof. So a step of the model is a path
of the proof (`pass_paths.py`). Worlds with deaths or a release are not compared: the theorem leaves both out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from farref.model.autograd import messages as msg
from farref.model.autograd.actions import Action
from farref.model.autograd.ledger import Line, counted_number
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.root import ACTIVE, Phase
from farref.model.autograd.rules import SOUND, AutogradRules
from farref.model.autograd.world import Bounds, World
from farref.model.checker.interface import Case, Property
from farref.model.values import Table, no_ids
from farref.properties.proof.autograd.passes import M, P, W
from farref.properties.proof.autograd.passes_invariant import COMMIT, PASSES
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
from farref.properties.proof.link.pass_paths import Past, Taken, path_of
from farref.properties.proof.logic.small import Fact
from farref.properties.proof.subjects import AUTOGRAD

DECIDED: Final = (Phase.COMMITTING, Phase.SUCCEEDED)
PHASES: Final[dict[str, tuple[Phase, ...]]] = {
    "running": ACTIVE, "committed": DECIDED, "failed": (Phase.FAILED,), "returned": (Phase.SUCCEEDED,)
}  # fmt: skip
LINES: Final = {"entered": (Line.PROCESSED, Line.BALANCED), "known": (Line.CAUSED, Line.BALANCED)}
OF_WORKERS: Final = ("takes_part", "staged", "left", "shown", "engaged")
NEWS: Final[dict[str, type[msg.Commit | msg.Abort]]] = {"committing": msg.Commit, "aborting": msg.Abort}
Key = tuple[int, tuple[int, ...]]
"""What functions of the proof depend on: the graph, and the root of each pass."""


class Linked(NamedTuple):
    """A world, with what became of its messages, and whether any step so far was not the proof's."""

    world: World
    past: Past
    differs: bool = False


@dataclass(frozen=True)
class Names:
    """What the proof calls the messages, workers and passes of some bounds."""

    bounds: Bounds

    @cached_property
    def counted(self) -> list[msg.Counted]:
        """The messages that the ledger counts, by number."""
        return [one for one in self.bounds.places if isinstance(one, msg.Counted)]

    @cached_property
    def number(self) -> dict[msg.Counted, int]:
        """The number of each of them."""
        return {one: number for number, one in enumerate(self.counted)}

    def frame(self, key: Key) -> Frame:
        """Give what there is, and what functions give."""
        graph, roots = key
        pairs = self.bounds.catalogue[graph].pairs
        functions: dict[Fact, Any] = {("root_of", f"p{one}"): f"w{root}" for one, root in enumerate(roots)}
        for number, one in enumerate(self.counted):
            target = one.worker if isinstance(one, msg.Seek | msg.Resume) else pairs[one.pair].source
            functions |= {("pass_of", f"m{number}"): f"p{one.number - 1}", ("target", f"m{number}"): f"w{target}"}
        things = {
            "Message": tuple(f"m{one}" for one in range(len(self.counted))),
            "Worker": tuple(f"w{one}" for one in self.bounds.worker_ids),
            "Pass": tuple(f"p{one}" for one in range(self.bounds.passes)),
        }
        return Frame(things, functions)


def key_of(world: World) -> Key:
    """Say what functions of the proof depend on. Of a pass that is not begun nothing depends on its root."""
    return world.graph or 0, tuple(one.root or 0 for one in world.passes)


# -- looking up a fact -------------------------------------------------------------------------------------------------


def facts_of(state: Linked, names: Names) -> Holds:
    """Give the facts of a state, each looked up when it is asked for."""
    return lambda fact: _look(str(fact[0]), [int(str(one)[1:]) for one in fact[1:]], state, names)


def _look(name: str, things: list[int], state: Linked, names: Names) -> bool:
    world = state.world
    if name in PHASES:
        return world.passes[things[0]].phase in PHASES[name]
    if name in NEWS:
        return is_new(world, NEWS[name](things[1] + 1, things[0]), names.bounds)  # type: ignore[arg-type]
    if name in OF_WORKERS:
        return _of_worker(name, things[0], things[1] + 1, state)
    return _of_message(name, things, state, names)


def _of_worker(name: str, who: int, number: int, state: Linked) -> bool:
    worker, record = state.world.workers[who], state.world.passes[number - 1]
    match name:
        case "engaged":
            return who in record.engaged
        case "shown":
            return who in state.past.shown[number - 1]
        case "left":
            if record.root is None or worker.newest[record.root] < number:
                return False
            return worker.task.number != number
        case _:
            return worker.task.number == number


def _of_message(name: str, things: list[int], state: Linked, names: Names) -> bool:
    world, past, bounds, number = state.world, state.past, names.bounds, things[0]
    message = names.counted[number]
    match name:
        case "flying":
            return is_new(world, message, bounds)
        case "copied":
            place = bounds.places[message]
            return world.network.carried[place] is not None and place in world.network.processed
        case "reported":
            return is_new(world, msg.Report(message), bounds)
        case "caused":
            return past.cause[number] == things[1]
        case "entered" | "known":
            line = counted_number(message, len(bounds.pair_ids), len(bounds.worker_ids))
            return world.passes[message.number - 1].ledger[line] in LINES[name]
        case _:
            return number in getattr(past, name)


def is_new(world: World, message: msg.Message, bounds: Bounds) -> bool:
    """Say whether a message is under way, lost or not, and has not taken effect."""
    place = bounds.places[message]
    return world.network.carried[place] is not None and place not in world.network.processed


# -- what a step has touched -------------------------------------------------------------------------------------------


def touched(old: Linked, new: Linked, names: Names) -> Iterator[Fact]:
    """List the facts that a step of the model may have changed. Parts that are the same are not looked at."""
    bounds = names.bounds
    for index in old.world.passes.differences(new.world.passes):
        yield from _touched_pass(index, old, new, names)
    for who in old.world.workers.differences(new.world.workers):
        yield from ((one, f"w{who}", f"p{index}") for one in OF_WORKERS for index in range(bounds.passes))
    messages = list(bounds.places)
    for place in old.world.network.carried.differences(new.world.network.carried):
        yield from _touched_message(messages[place], names)


def _touched_pass(index: int, old: Linked, new: Linked, names: Names) -> Iterator[Fact]:
    before, after = old.world.passes[index], new.world.passes[index]
    yield from ((one, f"p{index}") for one in PHASES)
    if before.engaged != after.engaged:
        yield from (("engaged", f"w{who}", f"p{index}") for who in names.bounds.worker_ids)
    lines = set(before.ledger.differences(after.ledger))
    for number, message in enumerate(names.counted):
        line = counted_number(message, len(names.bounds.pair_ids), len(names.bounds.worker_ids))
        if message.number == index + 1 and line in lines:
            yield from ((one, f"m{number}") for one in LINES)


def _touched_message(message: msg.Message, names: Names) -> Iterator[Fact]:
    match message:
        case msg.PropagateGradients() | msg.Mark() | msg.Seek() | msg.Resume():
            number = names.number[message]
            yield from ((one, f"m{number}") for one in ("flying", "copied", "sent", "processed"))
        case msg.Report(of):
            yield "reported", f"m{names.number[of]}"
        case msg.Commit(number, who) | msg.Abort(number, who):
            yield from ((one, f"w{who}", f"p{number - 1}") for one in NEWS)
        case _:
            return


# -- the model beside the proof ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinkedModel(Beside):
    """The model, each of whose steps is compared with the proof as it is taken."""

    bounds: Bounds
    rules: AutogradRules = SOUND
    _known: dict[tuple[Key, Taken], tuple[GroundStep, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def model(self) -> AutogradModel:
        """The model itself."""
        return AutogradModel(self.bounds, self.rules)

    @cached_property
    def names(self) -> Names:
        """What the proof calls things."""
        return Names(self.bounds)

    @property
    def initial(self) -> Linked:
        """The world in which nothing has happened yet."""
        none = no_ids(len(self.names.counted))
        shown = Table((no_ids(len(self.bounds.worker_ids)),) * self.bounds.passes)
        past = Past(none, none, none, none, none, Table((None,) * len(none)), shown)
        return Linked(self.model.initial, past)

    def step(self, state: Linked, action: Action) -> Linked | None:
        """Take a step of the model, and note whether it is the proof's."""
        world = self.model.step(state.world, action)
        if world is None:
            return None
        path, past = path_of(state.world, action, world, state.past, self.bounds, self.names.number)
        after = state._replace(world=world, past=past)
        return after._replace(differs=state.differs or self._differs(state, path, after))

    def _differs(self, state: Linked, path: list[Taken], after: Linked) -> bool:
        key = key_of(after.world)
        ways = [self._ways(key, one) for one in path]
        before, now = facts_of(state, self.names), facts_of(after, self.names)
        return differs(ways, before, now, touched(state, after, self.names))

    def _ways(self, key: Key, step: Taken) -> tuple[GroundStep, ...]:
        """Write every way of a step where it is taken, once."""
        if (key, step) not in self._known:
            frame = self.names.frame(key)
            settled: dict[Fact, bool] = {("caused_now", f"m{one}"): False for one in range(len(self.names.counted))}
            settled |= {("caused_now", f"m{one}"): True for one in step.caused}
            meant = {M: f"m{step.message}", W: f"w{step.worker}", P: f"p{step.number - 1}"}
            there = Frame(frame.things, frame.functions, settled)
            cases = [one for one in PASSES.steps(PASSES.state, AUTOGRAD.sound) if one.name in step.names]
            self._known[key, step] = ground_steps(cases, PASSES.state, there, meant)
        return self._known[key, step]


def properties(bounds: Bounds) -> tuple[Property, ...]:
    """Give every clause and property of the proof to the checker, and that every step is one of the proof."""
    names = Names(bounds)
    return properties_of((*COMMIT.invariant, *COMMIT.goals), "A26", lambda one: _cases(one, names))


def _cases(clause: Any, names: Names) -> Iterator[Case]:
    for thing in names.frame((0, (0,) * names.bounds.passes)).things[clause.sorts[0].name]:
        yield Case(str(thing), _about(clause, str(thing), names))


def _about(clause: Any, thing: str, names: Names) -> Callable[[Linked], bool]:
    known: dict[Key, Question | bool] = {}

    def holds(state: Linked) -> bool:
        key = key_of(state.world)
        if key not in known:
            known[key] = ground_about(clause, PASSES.state, names.frame(key), thing)
        question = known[key]
        return question if isinstance(question, bool) else question(facts_of(state, names))

    return holds
