"""What `farref check` and `farref fuzz` found, as suites of JUnit.

A property is a case; one that was not decided is an error, as nobody may take it for kept. Of one configuration, what only
must be reachable somewhere is skipped where it is not reached. A campaign is one case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from farref.checking.report import Report
from farref.checking.search import is_witness
from farref.checking.tables import Listing
from farref.model.checker.interface import Property, Verdict
from farref.rendering.agreement import Agreement
from farref.rendering.fuzzed import Fuzzed
from farref.rendering.junit import Case, CaseResult, Suite

OUTCOMES: Final[Mapping[Verdict, CaseResult | None]] = {
    Verdict.HOLDS: None,
    Verdict.VIOLATED: "failure",
    Verdict.INCOMPLETE: "error",
}
AGREEMENTS: Final[Mapping[Agreement, CaseResult | None]] = {
    Agreement.AGREED: None,
    Agreement.DISAGREED: "failure",
    Agreement.INCOMPLETE: "error",
}


def checked_suite(report: Report) -> Suite:
    """Make a case of every property of a report."""
    request = report.request
    said = {"command": request.command(), "states": str(report.distinct), "depth": str(report.depth)}
    name = f"{request.subject} {request.without or request.profile}"
    return Suite(name, report.seconds, [_property(report, one) for one in report.properties], said)


def _property(report: Report, one: Property) -> Case:
    verdict = report.verdicts[one.id]
    outcome = OUTCOMES[verdict]
    if is_witness(one) and verdict is Verdict.INCOMPLETE and not report.request.is_portfolio:
        outcome = "skipped"  # one configuration cannot be the judge of what is reachable
    message = f"{verdict.value} (clause {one.clause}): {one.text}"
    return Case(report.request.subject, one.id, 0.0, outcome, verdict.value, message, _story(report, one))


def _story(report: Report, one: Property) -> str:
    """Tell the counterexample that the report shows; of the others, how long they are and how to see them."""
    trace, steps = report.trace, report.steps_to_violation(one)
    if steps is None:
        return "\n".join(report.caveats)
    if trace is None or trace.property is None or trace.property.id != one.id:
        return f"{steps} steps; see it with --claim {one.id}"
    told = [f"{number}. {step.text}" for number, step in enumerate(trace.steps, start=1)]
    return "\n".join([*told, f"What this means: {trace.meaning}", f"See it again: {report.replay}"])


def listed_suite(listing: Listing) -> Suite:
    """Make one case of a table: whether it shows what it should."""
    name, verdict = listing.title, listing.verdict
    rows = "\n".join(", ".join(f"{key} {value}" for key, value in row.items()) for row in listing.rows)
    case = Case(
        name,
        listing.expectation,
        0.0,
        OUTCOMES[verdict],
        verdict.value,
        f"{listing.failure}: {listing.expectation}",
        rows,
    )
    return Suite(name, 0.0, [case])


def fuzzed_suite(fuzzed: Fuzzed) -> Suite:
    """Make one case of a campaign."""
    tally, found = fuzzed.tally, fuzzed.disagreement
    said = {"seed": str(tally.seed), "schedules": str(tally.schedules), "trace_hash": tally.trace_hash}
    story = [] if found is None else [*found.story, *found.lines, f"See it again: {fuzzed.command}"]
    message = fuzzed.verdict.value if found is None else f"disagreed after {len(found.actions)} steps"
    case = Case(
        fuzzed.subject, f"model and {fuzzed.backend} agree", tally.seconds, AGREEMENTS[fuzzed.verdict],
        fuzzed.verdict.value, message, "\n".join([*story, *fuzzed.notes]),
    )  # fmt: skip
    return Suite(f"fuzz {fuzzed.subject}", tally.seconds, [case], said)
