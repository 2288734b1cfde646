"""Let the kit judge the backends of its zoo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from farref.clauses import clauses
from farref.properties.conformance.kit.document import Level, Report, Verdict
from farref.properties.conformance.kit.named import hosted
from farref.properties.conformance.kit.runner import Plan, Runner
from farref.properties.conformance.kit.suite import suite
from farref.properties.conformance.kit.verdicts import ClauseText

ZOO: Final = "farref.properties.zoo.backends"
HONEST: Final = "farref.properties.zoo.toy.honest:Honest"
CHECKS: Final = suite(list(clauses()))
TEXTS: Final = {one: ClauseText(one, one, one, Level.MUST) for one in clauses()}


def judged(place: str, only: Sequence[str] = (), *, runs: int = 1, shrink_seconds: float = 0.0, **more: Any) -> Report:
    """Judge a backend, `module:class`, by some checks or clauses, or by all. A run is made shorter only if asked for."""
    chosen = tuple(one for one in CHECKS if not only or one.id in only or one.clause in only)
    texts = {one.clause: TEXTS[one.clause] for one in chosen}
    return Runner(
        Plan(hosted(place), lambda id_: id_, texts, chosen, runs=runs, shrink_seconds=shrink_seconds, **more)
    ).run()


def having(report: Report, *verdicts: Verdict) -> set[str]:
    """Name the checks with a verdict."""
    return {row.id for row in report.clauses if row.verdict in verdicts}
