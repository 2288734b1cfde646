"""The engines that drive the implementation: campaigns, storms, real processes, crash points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final

from farref.properties.twin.backend import FreeBackend, MakeBackend
from farref.properties.twin.backends.autograd.processes import AutogradProcesses
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.backends.crashes.campaign import crash_points, try_point
from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.backends.rref.storm.backend import RRefStorm
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import shrink
from farref.properties.twin.tally import Tally
from farref.properties.twin.twin import Disagreement
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS, CRASH_MUTANTS, SHELL_MUTANTS, STORM_MUTANTS
from farref.properties.zoo.creature import Creature
from farref.properties.zoo.mutants.guards import GuardMutant
from farref.properties.zoo.mutants.mutant import Mutant
from farref.properties.zoo.mutants.shared import EqualMistake
from farref.zookeeping.outcome import Engine, Outcome, killed, survived

SEED: Final = 1
SCHEDULES: Final = 200
"""How many schedules a campaign takes before it gives a creature up."""
STORM_SCHEDULES: Final = 30
MORE_STORM_SCHEDULES: Final = 200
"""The same where nothing else is meant to find it: as many as its test takes."""
PROCESS_SCHEDULES: Final = 10
SHRINKING_S: Final = 4.0
POINTS_EACH: Final = 8
"""Of the crash points one in so many is taken: `farref crashes` takes all."""
SIMULATED: Final[dict[str, Any]] = {"rref": SimulatedBackend, "autograd": SimulatedAutograd}
PROCESSES: Final[dict[str, Any]] = {"rref": ProcessesBackend, "autograd": AutogradProcesses}
MEMBERS: Final = ("members", "authority", "contexts", "owner", "user", "calls", "core")
"""The parts of the core that the crash points are about."""

Driven = Mutant | GuardMutant | EqualMistake


def protocol_of(creature: Creature) -> str:
    """Name the protocol that a creature gets wrong."""
    if isinstance(creature, GuardMutant | EqualMistake):
        return creature.protocol
    return "autograd" if creature.name in AUTOGRAD_MUTANTS else "rref"


def alive(creature: Creature) -> AbstractContextManager[None]:
    """Let a creature live for a while."""
    match creature:
        case Mutant() | GuardMutant():
            return creature.alive()
        case EqualMistake(shared=shared):
            return shared.made()
        case _:
            return nullcontext()


def in_one_process(creature: Creature) -> bool:
    """Say whether a creature can be met where everything is in one process: the shell is not there."""
    return isinstance(creature, Driven) and creature.name not in SHELL_MUTANTS


# -- campaigns, storms, real processes ---------------------------------------------------------------------------------


def simulated(creature: Creature) -> Outcome:
    """Drive model and implementation through the same schedules, on the simulated network."""
    protocol = protocol_of(creature)
    with alive(creature):
        tally = campaign(SIMULATED[protocol], seed=SEED, schedules_max=SCHEDULES, protocol=protocol)
        return _outcome(tally, SIMULATED[protocol])


def storm(creature: Creature) -> Outcome:
    """Drive the implementation through what no model takes, and judge it by properties."""
    schedules = MORE_STORM_SCHEDULES if creature.name in STORM_MUTANTS else STORM_SCHEDULES
    with alive(creature):
        return _outcome(campaign(RRefStorm, seed=SEED, schedules_max=schedules), RRefStorm)


def processes(creature: Creature) -> Outcome:
    """Drive real processes beside the model: the mistake is made in each of them."""
    assert isinstance(creature, Mutant | GuardMutant)
    protocol = protocol_of(creature)
    make = partial(PROCESSES[protocol], prepare=creature.let_loose)
    tally = campaign(make, seed=SEED, schedules_max=PROCESS_SCHEDULES, protocol=protocol)
    return _outcome(tally, None)


def _outcome(tally: Tally, make: MakeBackend | None) -> Outcome:
    """Say what a campaign found; where it is cheap, shorten it first."""
    found = tally.disagreement
    if found is None:
        return survived(tally.schedules)
    if make is not None and tally.schedule is not None and found.actions:
        backend = make()
        if not isinstance(backend, FreeBackend):
            backend.restless = tally.schedule.restless
        found = shrink(found, backend, seconds_max=SHRINKING_S)
    return killed(" | ".join(found.lines[:2]), tally.schedules, story(found))


def story(found: Disagreement) -> list[str]:
    """Tell the run that shows it, if it can be told."""
    try:
        return list(found.story)
    except Exception as error:  # a mistake may be in what tells the story, too
        return [f"the story cannot be told: {type(error).__name__}"]


# -- crash points ------------------------------------------------------------------------------------------------------


def crashes(creature: Creature) -> Outcome:
    """Lose a worker at every point of some stories."""
    with alive(creature):
        for number, problem in enumerate(_problems(), start=1):
            if problem is not None:
                return killed(problem[1], number, [f"farref crashes --replay {problem[0]}"])
    return survived(number)


def _problems() -> Iterator[tuple[str, str] | None]:
    for point in crash_points()[::POINTS_EACH]:
        outcome = try_point(point)
        yield (point.name, outcome.problems[0]) if outcome.problems else None


ENGINES = (
    Engine("simulated", "farref fuzz: the twin over a simulated network", "schedules", in_one_process, simulated),
    Engine(
        "storm", "farref fuzz rref --backend storm: no model, only properties", "schedules",
        lambda one: in_one_process(one) and not isinstance(one, EqualMistake) and protocol_of(one) == "rref", storm,
    ),
    Engine(
        "crashes", "farref crashes: a worker is lost in some stories, at one in eight points", "crash points",
        lambda one: one.name in CRASH_MUTANTS or one.name.split(".")[0] in MEMBERS, crashes,
    ),
    Engine(
        "processes", "farref fuzz --backend processes: the twin over real processes", "schedules",
        lambda one: isinstance(one, Mutant) and one.name not in CRASH_MUTANTS, processes,
    ),
)  # fmt: skip
"""They take mistakes in the implementation."""
