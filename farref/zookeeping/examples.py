"""Hypothesis as an engine: it draws the steps of the same twin. It is given few examples, and no time to shrink."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.twin import Disagreement
from farref.properties.zoo.creature import Creature
from farref.properties.zoo.mutants.mutant import Mutant
from farref.properties.zoo.mutants.shared import EqualMistake
from farref.properties.zoo.off import RuleOff
from farref.zookeeping.driven import SIMULATED, alive, in_one_process, protocol_of, story
from farref.zookeeping.modelled import world_of
from farref.zookeeping.outcome import Engine, Outcome, killed, survived

EXAMPLES: Final = 40
EXAMPLES_OF_RULES: Final = 300
"""As many as `bench/machine.py` gives a rule: the model alone takes them, which is quick."""


def hypothesis(creature: Creature) -> Outcome:
    """Let Hypothesis draw runs until one shows the creature."""
    machine = _counted(_machine(creature))
    few = settings(FEW, max_examples=EXAMPLES_OF_RULES if isinstance(creature, RuleOff) else EXAMPLES)
    with alive(creature):
        try:
            run_state_machine_as_test(machine, settings=few)
        except Disagreement as found:
            return killed(" | ".join(found.lines[:2]), machine.begun, story(found))
        finally:
            machine.close()
    return survived(machine.begun)


def _machine(creature: Creature) -> Any:
    """Give the machine that should see a creature. A rule that is off is looked for in the world where the check finds it."""
    if isinstance(creature, RuleOff):
        about = PROTOCOLS[creature.subject]
        machine: Any = twin_machine(lambda: ModelBackend(about.rules_of("sound", creature.rule)), about.name)
        machine.worlds = st.just(asdict(world_of(creature)))
        return machine
    machine = twin_machine(SIMULATED[protocol_of(creature)])
    if isinstance(creature, EqualMistake) and creature.shared.world is not None:
        machine.worlds = st.just(asdict(creature.shared.world))
    return machine


def _counted(machine: Any) -> Any:
    """Give the same machine, which counts how often it begins."""

    class Counted(machine):  # type: ignore[misc]
        begun = 0

        def __init__(self) -> None:
            Counted.begun += 1
            super().__init__()

    return Counted


def takes(one: Creature) -> bool:
    """Say whether it has anything to say about a creature: a mistake of the core, or a rule of a protocol."""
    if isinstance(one, RuleOff):
        return one.is_modelled and one.subject in PROTOCOLS
    return isinstance(one, Mutant | EqualMistake) and in_one_process(one)


FEW: Final = settings(
    stateful_step_count=40,
    deadline=None,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)

ENGINE: Final = Engine("hypothesis", "the twin as a Hypothesis machine", "examples", takes, hypothesis)
