"""Words and marks that all renderings of a report share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Final

import msgspec

from farref.properties.conformance.kit.document import (
    Level,
    Operation,
    Report,
    Row,
    Verdict,
    was_not_begun,
)
from farref.terminal import exits
from farref.words import counted, visible

MARKS: Final = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.EXPECTED_FAIL: "≈",
    Verdict.BY_DESIGN: "≡",
    Verdict.UNEXPECTED_PASS: "!",
    Verdict.SKIPPED: "–",
    Verdict.BLOCKED: "⊘",
    Verdict.UNTESTED: "?",
    Verdict.ERROR: "⚠",
}
"""A sign for each verdict, so that none is told by colour alone."""

MEANINGS: Final = {
    Verdict.PASS: "the clause was kept",
    Verdict.FAIL: "the clause was broken",
    Verdict.EXPECTED_FAIL: "the clause was broken, as is known",
    Verdict.BY_DESIGN: "the clause was broken, and those who make the backend say that it is meant so",
    Verdict.UNEXPECTED_PASS: "a known failure did not come about: its expectation is out of date",
    Verdict.SKIPPED: "the backend does not declare what the check needs",
    Verdict.BLOCKED: "another check failed without which this one says nothing",
    Verdict.UNTESTED: "no check looks at it, or the run ended before",
    Verdict.ERROR: "the adapter or the kit failed, so nothing is known",
}

RED: Final = (Verdict.FAIL, Verdict.UNEXPECTED_PASS)
KNOWN: Final = (Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN)
DECIDED: Final = (Verdict.PASS, *KNOWN, *RED)
TOLD: Final = (*RED, Verdict.ERROR, *KNOWN)
"""What is told at length."""


class Conclusion(Enum):
    """What a whole report, or several, come to."""

    CONFORMS = "conforms"
    BROKEN = "broken"
    HARNESS = "harness"
    NOTHING = "nothing"
    INCOMPLETE = "incomplete"


EXIT_CODES: Final = {
    Conclusion.CONFORMS: exits.OK,
    Conclusion.BROKEN: exits.BROKEN,
    Conclusion.HARNESS: exits.HARNESS,
    Conclusion.NOTHING: exits.UNDECIDED,
    Conclusion.INCOMPLETE: exits.UNDECIDED,
}


def is_red(row: Row) -> bool:
    """Say whether a verdict speaks against a backend. What a clause only allows, nobody need do."""
    is_optional = row.level is Level.MAY and row.verdict is Verdict.FAIL
    return row.verdict in RED and not is_optional


def conclusion(reports: Sequence[Report]) -> Conclusion:
    """Say what some reports come to: what is broken first, then what is not known."""
    rows = [[row.verdict for row in report.clauses] for report in reports]
    if any(is_red(row) for report in reports for row in report.clauses):
        return Conclusion.BROKEN
    if any(verdict is Verdict.ERROR for verdicts in rows for verdict in verdicts):
        return Conclusion.HARNESS
    if not all(any(verdict in DECIDED for verdict in verdicts) for verdicts in rows):
        return Conclusion.NOTHING
    return Conclusion.INCOMPLETE if not_begun(reports) else Conclusion.CONFORMS


def not_begun(reports: Sequence[Report]) -> int:
    """Count the checks that were still to be run when a run ended."""
    return sum(was_not_begun(row) for report in reports for row in report.clauses)


SENTENCES: Final = {
    Conclusion.CONFORMS: "CONFORMS: every clause that was checked is kept.",
    Conclusion.BROKEN: "DOES NOT CONFORM",
    Conclusion.HARNESS: "NOT DECIDED: the adapter or the kit failed.",
    Conclusion.NOTHING: "NOTHING CHECKED: no check could be run.",
}


def sentence(reports: Sequence[Report]) -> str:
    """Say what some reports come to. What breaks clauses does not conform, however well that is known."""
    came_to, rows = conclusion(reports), [row for report in reports for row in report.clauses]
    known = sum(row.verdict in KNOWN for row in rows)
    if came_to is Conclusion.INCOMPLETE:
        return f"INCOMPLETE: {counted(not_begun(reports), 'check')} not begun; nothing unexpected in the others."
    if came_to is Conclusion.CONFORMS and known:
        return f"AS EXPECTED: {counted(known, 'check')} failed that {'is' if known == 1 else 'are'} known to; nothing else did."
    if came_to is Conclusion.CONFORMS and any(row.verdict is Verdict.FAIL for row in rows):
        return SENTENCES[came_to].replace(".", ", except for what is optional.")
    return SENTENCES[came_to]


def printable(report: Report) -> Report:
    """Replace what a terminal would obey, wherever an adapter may have put it."""
    return msgspec.convert(_visible(msgspec.to_builtins(report)), Report)


def _visible(part: Any) -> Any:
    match part:
        case str():
            return visible(part)
        case dict():
            return {_visible(name): _visible(value) for name, value in part.items()}
        case list() | tuple():
            return [_visible(one) for one in part]
        case _:
            return part


def counts(report: Report) -> str:
    """Say how often each verdict occurred that did occur."""
    return ", ".join(f"{report.summary[one.value]} {one.value}" for one in Verdict if report.summary.get(one.value))


def title(report: Report) -> str:
    """Name a backend with its version."""
    return f"{report.backend} {report.version}".strip()


def in_brief(row: Row) -> str:
    """Give what the clause says in brief: its first paragraph, which is the rule, with the list that it begins."""
    rule, _, rest = row.spec.partition("\n\n")
    listed = rest.partition("\n\n")[0] if rule.endswith(":") else ""
    return " ".join(f"{rule} {listed}".split()).removeprefix("**Rule.** ")


def rate(row: Row) -> str:
    """Say how often a check failed that was run several times, to stand behind its verdict."""
    return f" ({row.rate})" if row.rate else ""


def side_by_side(reports: Sequence[Report]) -> Iterator[tuple[str, Row, list[Row | None]]]:
    """Give each check of some reports once: its id, its row in the first that has it, and its rows in all."""
    by_id = [{row.id: row for row in report.clauses} for report in reports]
    for name in dict.fromkeys(row.id for report in reports for row in report.clauses):
        rows = [rows.get(name) for rows in by_id]
        yield name, next(row for row in rows if row is not None), rows


def told(row: Row) -> str:
    """Tell in plain lines what became of a check: what must be so, what was done, what the spec says, how to see it again."""
    lines = [f"{row.verdict.value}{rate(row)}: {row.message}", f"must be so: {row.says}", *map(line, row.story)]
    lines += [f"expected: {row.reason} ({row.link})"] if row.reason else []
    lines += [f"raised: {row.trace}"] if row.trace else []
    lines += [f"the spec, {row.clause}: {in_brief(row)}"]
    return visible("\n".join([*lines, f"again: {row.replay}"] if row.replay else lines))


def line(one: Operation) -> str:
    """Tell one operation of a story, with its number."""
    return f"{one.number}. {said(one)}"


def said(one: Operation) -> str:
    """Tell one operation of a story, and mark it if the clause was broken there."""
    return f"{one.text}{': ' if one.outcome else ''}{one.outcome}{'   <-- here' if one.trouble else ''}"
