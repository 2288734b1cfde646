"""The engines that judge from outside: the conformance kit, and the project's own unit tests (`scenarios`)."""

from __future__ import annotations

from typing import Final

from farref.clauses import clauses
from farref.properties.conformance.kit.document import Level, Report, Verdict
from farref.properties.conformance.kit.named import hosted
from farref.properties.conformance.kit.runner import Plan, Runner
from farref.properties.conformance.kit.suite import suite
from farref.properties.conformance.kit.verdicts import ClauseText
from farref.properties.zoo.backends.wrong import WrongBackend
from farref.properties.zoo.catalogue import RREF_MUTANTS, SHELL_MUTANTS
from farref.properties.zoo.creature import Creature
from farref.zookeeping import scenarios
from farref.zookeeping.outcome import Engine, Outcome, killed, survived

MUTATED: Final = "farref.properties.zoo.backends.mutated"
MUTATED_PROCESSES: Final = "farref.properties.zoo.backends.mutated_processes"
MUTANTS: Final = {**RREF_MUTANTS, **SHELL_MUTANTS}
"""What is wrong in the core shows on the simulated network, and what is wrong in the shell between real processes."""


def kit(creature: Creature) -> Outcome:
    """Let the conformance kit judge a backend by the checks that it should fail."""
    if isinstance(creature, WrongBackend):
        report = _judged(creature.place, creature.asked)
    else:
        mutated = MUTATED_PROCESSES if creature.name in SHELL_MUTANTS else MUTATED
        report = _judged(f"{mutated}:{creature.name}", creature.checks)
    failed = [row for row in report.clauses if row.verdict is Verdict.FAIL]
    if not failed:
        return survived(len(report.clauses))
    return killed(", ".join(row.id for row in failed), len(report.clauses), [row.message for row in failed])


def _judged(place: str, only: tuple[str, ...]) -> Report:
    chosen = tuple(one for one in suite(list(clauses())) if one.id in only or one.clause in only)
    texts = {one.clause: ClauseText(one.clause, one.clause, one.clause, Level.MUST) for one in chosen}
    return Runner(Plan(hosted(place), lambda id_: id_, texts, chosen, runs=1)).run()


ENGINES = (
    Engine(
        "kit", "farref conform: the checks that should see it", "checks",
        lambda one: isinstance(one, WrongBackend) or (one.name in MUTANTS and bool(one.checks)), kit,
    ),
    scenarios.ENGINE,
)  # fmt: skip
