"""The figures of the evidence, counted from `properties/zoo/evidence.json`: the same for the page and for Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from farref.properties.zoo.catalogue import everybody
from farref.properties.zoo.creature import PYTORCH, RAY, REVIEW, RMI, Creature
from farref.properties.zoo.mutants.guards import GUARD
from farref.properties.zoo.off import ORACLE, RULE
from farref.properties.zoo.survivors import ARGUMENTS
from farref.zookeeping.engines import ENGINES
from farref.zookeeping.outcome import Outcome
from farref.zookeeping.record import Evidence

PROTOCOLS: Final = {"R": "rref", "A": "autograd", "H": "threads"}
"""A clause says by its letter which protocol it belongs to."""
ORIGINS: Final = (
    "PyTorch",
    "Ray",
    "Java RMI",
    "a rule",
    "a guard",
    "the shell",
    "the oracle",
    "a review",
    "the clause",
)

MARKS: Final = {"1 minute": 60.0, "10 minutes": 600.0, "60 minutes": 3600.0}
"""When it is asked how much was visited, in seconds."""

UNSEEN: Final = (
    "What is neither proved nor within the bounds of a search. That a gradient is the sum over its paths (S1), that a context"
    " is forgotten (L4), the order of a shutdown (R32), the fence (R38), the loss of an owner (R43) and joining anew (R44) are"
    " checked in bounded worlds only. A campaign draws larger worlds, and visits few of their states.",
    "A mistake that model, implementation and properties share. Twelve pairs of equal mistakes are in the zoo, and a property"
    " finds each of them. One that no property speaks of would be found by nobody.",
    "Values that hold references, several of them in one message, and the lives of a worker (R7) are in no model: storms draw"
    " them, and properties and unit tests judge them. Cycles of values that hold each other are collected by nobody (R34).",
    "Whoever decides about members. Beside the model the schedule is the authority. What the real one decides is seen at"
    " crash points, and that it goes on after a restart (R35) by unit tests.",
    "Time. No model has a clock: that a timeout is too short, or a retry too late, is seen only where real processes run, by"
    " the kit and the tests of the shell.",
    "The order of memory, the kernel and the hardware beneath Python. Threads are modelled step by step (`spec/threads.md`), as"
    " the interpreter takes them, with one peer that stands for all. How a worker ends its threads is not modelled.",
    "Whoever lies on purpose and has a valid key (`spec/security.md`).",
    "Several machines: the processes here are on one, and a broken network is a stream that is cut or held.",
)
"""What no engine can see, a sentence each."""


@dataclass(frozen=True)
class Rate:
    """How many creatures of a protocol an engine took, and how many of them it killed."""

    taken: int
    killed: int

    @property
    def share(self) -> str:
        """As it stands in a table."""
        return f"{self.killed} of {self.taken}" if self.taken else "–"


@dataclass(frozen=True)
class Fate:
    """A creature, and what became of it."""

    creature: Creature
    outcomes: Mapping[str, Outcome]

    @property
    def killers(self) -> list[str]:
        """The engines that killed it."""
        return [name for name, one in self.outcomes.items() if one.killed]

    @property
    def argument(self) -> str | None:
        """Why it survives, if it does and somebody said why."""
        return None if self.killers else ARGUMENTS.get(self.creature.name)

    @property
    def is_open(self) -> bool:
        """Whether nothing kills it and nobody said why."""
        return not self.killers and self.argument is None

    @property
    def story(self) -> tuple[str, ...]:
        """The shortest story that some engine tells of it."""
        return min((one.story for one in self.outcomes.values() if one.story), key=len, default=())

    @property
    def place(self) -> str:
        """Where it is, if it is in one place of the source."""
        return str(getattr(self.creature, "place", "")) if origin(self.creature) == "a guard" else ""

    def told(self, engine: str) -> str:
        """What an engine made of it, in a few words."""
        one = self.outcomes[engine]
        after = f"{one.after:,} {ENGINES[engine].unit}, {one.seconds:.1f} s"
        return f"killed after {after}: {one.by}" if one.killed else f"survives {after}"


def fates(evidence: Evidence) -> list[Fate]:
    """Put every creature and its outcomes together."""
    return [
        Fate(creature, {name: evidence.zoo[creature.name][name].outcome for name in _ordered(evidence, creature)})
        for creature in everybody().values()
    ]


def _ordered(evidence: Evidence, creature: Creature) -> list[str]:
    found = evidence.zoo.get(creature.name, {})
    return [name for name in ENGINES if name in found]


def protocol(creature: Creature) -> str:
    """Name the protocol that a creature is about."""
    return PROTOCOLS[creature.clause[0]]


def origin(creature: Creature) -> str:
    """Name the sort of place that a creature comes from."""
    if creature.origin.startswith((PYTORCH, RAY, RMI)):
        return next(name for name in ORIGINS if creature.origin.startswith(name))
    if type(creature).__name__ == "Mutant" and "processes" in creature.caught_by[0]:
        return "the shell"
    return creature.origin if creature.origin in (GUARD, RULE, ORACLE, REVIEW) else "the clause"


def kill_rates(found: Iterable[Fate]) -> dict[str, dict[str, Rate]]:
    """Count by engine and protocol what was taken and what was killed."""
    taken: Counter[tuple[str, str]] = Counter()
    killed: Counter[tuple[str, str]] = Counter()
    for fate in found:
        for name, one in fate.outcomes.items():
            taken[name, protocol(fate.creature)] += 1
            killed[name, protocol(fate.creature)] += one.killed
    return {
        name: {about: Rate(taken[name, about], killed[name, about]) for about in PROTOCOLS.values()} for name in ENGINES
    }


def by_origin(found: Iterable[Fate]) -> dict[str, tuple[int, int, int, int]]:
    """Count by origin: how many there are, and how many are killed, survive with a reason, and are open."""
    rows = {name: [0, 0, 0, 0] for name in ORIGINS}
    for fate in found:
        row = rows[origin(fate.creature)]
        row[0] += 1
        row[1 if fate.killers else 2 if fate.argument else 3] += 1
    return {name: (row[0], row[1], row[2], row[3]) for name, row in rows.items()}


def at_marks(points: Iterable[Mapping[str, Any]], states: int) -> list[str]:
    """Say which share of the states was visited at each mark, and after how many runs; a dash where nothing was measured."""
    reached = [next((one for one in points if one["seconds"] >= mark), None) for mark in MARKS.values()]
    return [f"{one['states'] / states:.1%} ({one['runs']:,} runs)" if one else "–" for one in reached]


def searched(name: str, world: Mapping[str, Any]) -> str:
    """Say how many states there are in a world, and who visits all of them."""
    command, states = f"`farref check {name} {world['world']}`", f"{world['states']:,}"
    return f"{command}: {states} reachable states. The check visits all of them in {world['checked_s']:.1f} s."


def engines_of(world: Mapping[str, Any]) -> dict[str, list[str]]:
    """List for each engine that was measured in a world how much it visited at each mark."""
    return {engine: at_marks(points, world["states"]) for engine, points in world["curves"].items()}


def unseen_actions(actions: Mapping[str, int]) -> list[str]:
    """List the actions that no real process was seen to take."""
    return [name for name, number in actions.items() if not number]


def held(seen: Mapping[str, Any]) -> str:
    """Say how many transitions of real processes were seen."""
    schedules, steps = (sum(one[name] for one in seen["campaigns"]) for name in ("schedules", "steps"))
    return f"{steps:,} transitions in {schedules:,} schedules."


def drawn_by(seen: Mapping[str, Any]) -> list[str]:
    """Say what drew them, as Markdown: a line for each campaign."""
    return [
        f"{one['about']} (`{one['command']}`): {one['steps']:,} in {one['schedules']:,} schedules"
        for one in seen["campaigns"]
    ]
