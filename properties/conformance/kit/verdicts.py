"""What one run of a check comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from farref.properties.conformance.conversation.session import Hang, OperationFailed
from farref.properties.conformance.kit.backend import CAPABILITIES, RETIRED, TRAITS
from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.document import Level, Operation, Row, Script, Verdict, was_not_begun
from farref.properties.conformance.kit.expectations import Expectation
from farref.properties.conformance.kit.route import Route

NAMED_MAX: Final = 8
NOT_RUN: Final = (Verdict.SKIPPED, Verdict.BLOCKED, Verdict.UNTESTED)


@dataclass(frozen=True)
class ClauseText:
    """A clause, as far as a report shows it."""

    id: str
    title: str
    text: str
    level: Level
    why_unseen: str = ""
    """Why no check looks at it."""


@dataclass(frozen=True)
class CheckRun:
    """What became of one run of a check."""

    verdict: Verdict
    message: str
    story: tuple[Operation, ...]
    trace: str | None = None
    """The trace of the stack that came with an error."""
    files: tuple[Script, ...] = ()
    """What else shows it, such as a run for `farref replay`."""
    route: Route | None = None
    """The random steps that were taken, if it takes such."""


def with_expectation(outcome: CheckRun, expectation: Expectation | None) -> tuple[Verdict, str]:
    """Say what an outcome comes to, given what is expected."""
    if expectation is None or outcome.verdict is Verdict.ERROR:
        return outcome.verdict, outcome.message
    known = Verdict.BY_DESIGN if expectation.by_design else Verdict.EXPECTED_FAIL
    if outcome.verdict is Verdict.FAIL:
        return known, outcome.message
    if expectation.is_flaky:
        often = "only sometimes" if expectation.rate == "sometimes" else f"{expectation.rate} times"
        return known, f"it did not happen this time, and is known to happen {often}"
    return Verdict.UNEXPECTED_PASS, f"it is expected to fail, and did not: {expectation.reason}"


def how_broken(broken: Exception) -> str:
    """Say how a clause was broken."""
    match broken:
        case Hang():
            return f"an operation hangs: {broken}"
        case OperationFailed():
            return f"an operation fails that must not: {broken}"
        case _:
            return str(broken)


def unseen(clause: ClauseText) -> Row:
    """Make the row of a clause that no check looks at."""
    return Row(
        id=clause.id,
        clause=clause.id,
        title=clause.title,
        level=clause.level,
        verdict=Verdict.UNTESTED,
        seconds=0.0,
        message=clause.why_unseen,
        replay=None,
        spec=clause.text,
    )


def notes(
    capabilities: frozenset[str], checks: Iterable[Check], expectations: Mapping[str, Expectation], rows: Sequence[Row]
) -> tuple[str, ...]:
    """Say what else is worth knowing of a run: what nobody understood, what was not run, and what more could be."""
    strange = sorted(capabilities - set(CAPABILITIES) - set(RETIRED) - set(TRAITS))
    retired = [f"{one} ({RETIRED[one]})" for one in sorted(capabilities & set(RETIRED))]
    idle = [row.id for row in rows if row.id in expectations and row.verdict in NOT_RUN]
    over = [row.id for row in rows if was_not_begun(row)]
    missing = Counter(name for check in checks for name in sorted(check.needs - capabilities))
    wanted = [f"{name} ({count})" for name, count in missing.most_common()]
    said = {
        "the adapter declares what no check knows: ": strange,
        "the adapter declares what is ignored now: ": retired,
        "expected to fail, and not run: ": idle,
        "not begun before the run ended: ": over,
        "failed, and says little without checks that were not run: ": _unfounded(checks, rows),
        "not declared, with the checks that need it: ": wanted,
    }
    return tuple(f"{sentence}{_named(names)}" for sentence, names in said.items() if names)


def _unfounded(checks: Iterable[Check], rows: Sequence[Row]) -> list[str]:
    """List what failed although nobody knows whether it could have been kept, as one check was picked out of many."""
    found, failed = {row.id for row in rows}, {row.id for row in rows if row.verdict is Verdict.FAIL}
    before = {one.id: ", ".join(name for name in one.after if name not in found) for one in checks}
    return [f"{name} ({before[name]})" for name in before if name in failed and before[name]]


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + (f", and {more} more" if more > 0 else "")
