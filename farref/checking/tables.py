"""Tables over several checks: every rule taken away, every claim under both profiles, every engine on one configuration.

Each table knows what it should show, so that a build can depend on it: that every rule is needed, that every claim breaks
PyTorch's protocol and not ours, that the engines agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from farref.checking.report import Report
from farref.checking.request import Request
from farref.checking.search import INTERRUPTED, OnConfiguration, carry_out
from farref.model.checker.interface import Result, Verdict
from farref.properties.protocol import Configuration
from farref.properties.work.units import WorkersLost
from farref.terminal.output import remark
from farref.terminal.progress import Share
from farref.tlc import engine as tlc
from farref.tlc import members
from farref.tlc.engine import TlcUnavailable

Row = dict[str, Any]

HOLDS, VIOLATED = Verdict.HOLDS.value, Verdict.VIOLATED.value
ENGINES_COMPARED: Final = ("reference", "fast", "tlc")
COMPARED: Final = ("verdict", "shortest", "distinct", "generated", "depth")
"""What engines must agree on. All count alike, with symmetry and without (`Result.generated`)."""


@dataclass(frozen=True)
class Listing:
    """Rows with the same columns, what they should show, whether they do, and how to say that they do not."""

    title: str
    rows: tuple[Row, ...]
    expectation: str
    verdict: Verdict
    failure: str = "not so"
    headings: Mapping[str, str] = field(default_factory=dict)
    """The columns that people see, and what is written above them; of none, all are seen."""


def each_rule(request: Request, on_configuration: OnConfiguration, share: Share | None = None) -> Listing:
    """Take away each rule in turn, and say what then breaks."""
    asked = [replace(request, without=rule) for rule in request.about.rules]
    rows, is_whole = _collect(_made(_rule_row, asked, on_configuration, share))
    broken = all(row["verdict"] == VIOLATED for row in rows)
    verdict = _verdict(rows, broken, is_whole)
    failure = "not shown" if request.is_portfolio else "not shown in these bounds"
    return Listing("SOUND without one rule", rows, "every rule is necessary", verdict, failure)


def _rule_row(request: Request, on_configuration: OnConfiguration) -> Row:
    report = _report(request, on_configuration, first_only=True)
    rule = request.without or ""
    return {
        "rule": rule,
        "clause": request.about.clause_of(rule),
        "text": request.about.text_of(rule),
        "verdict": report.verdict.value,
        **_finding(report),
    }


def _finding(report: Report) -> Row:
    for name, (run, found) in report.counterexamples.items():
        where = {"configuration": run.configuration.name, "distinct": run.result.distinct}
        return {"breaks": name, "steps": len(found.actions), **where}
    return {"breaks": None, "steps": None, "configuration": None, "distinct": report.distinct}


CLAIM_HEADINGS: Final = {
    "claim": "claim",
    "clause": "clause",
    "must_hold": "what must hold",
    "torch": "torch",
    "steps": "steps",
    "sound": "sound",
    "distinct": "distinct",
}
"""The defect's title is left out: beside it a verdict would seem to be about the defect, and it is about its opposite."""


def each_claim(request: Request, on_configuration: OnConfiguration, share: Share | None = None) -> Listing:
    """Check each claim under both profiles."""
    claims = request.about.claims.values()
    asked = [replace(request.narrowed(Configuration(one.id, one.bounds, one.title)), claim=one.id) for one in claims]
    rows, is_whole = _collect(_made(_claim_row, asked, on_configuration, share))
    split = all((row["torch"], row["sound"]) == (VIOLATED, HOLDS) for row in rows)
    expectation = "every claim is violated under TORCH and holds under SOUND"
    return Listing("Known defects", rows, expectation, _verdict(rows, split, is_whole), headings=CLAIM_HEADINGS)


def _claim_row(asked: Request, on_configuration: OnConfiguration) -> Row:
    claim = asked.about.claims[asked.claim or ""]
    torch = _report(replace(asked, profile="torch"), on_configuration, first_only=True)
    sound = _report(asked, on_configuration)
    return {
        "claim": claim.id,
        "clause": claim.clause,
        "text": claim.title,
        "must_hold": claim.must_hold(),
        "torch": torch.verdict.value,
        "steps": torch.steps_to_violation(claim.property),
        "sound": sound.verdict.value,
        "distinct": sound.distinct,
    }


def compare_engines(request: Request, on_configuration: OnConfiguration) -> Listing:
    """Let each engine check the same configuration; TLC is left out, and that is said, where there is no Java."""
    rows, is_whole = _collect(_engine_row(replace(request, engine=name), on_configuration) for name in ENGINES_COMPARED)
    answers = {tuple(row[name] for name in COMPARED) for row in rows if row["distinct"] is not None}
    expectation = f"the engines that ran agree on {', '.join(COMPARED)}"
    return Listing(request.command(), rows, expectation, _verdict(rows, len(answers) == 1, is_whole))


def _engine_row(request: Request, on_configuration: OnConfiguration) -> Row:
    try:
        if request.engine == "tlc" and any(members.has_views(one.bounds) for one in request.configurations):
            raise TlcUnavailable("with views TLC has other steps; --engine tlc gives its verdict")
        report = _report(request, on_configuration)
        whole = _whole_search(request, report)
    except TlcUnavailable as missing:
        unknown = dict.fromkeys(("shortest", "distinct", "generated", "depth", "seconds"))
        return {"engine": request.engine, "verdict": f"unavailable: {missing}", **unknown}
    return {
        "engine": request.engine,
        "verdict": report.verdict.value,
        "shortest": min((len(found.actions) for _, found in report.counterexamples.values()), default=None),
        "distinct": whole.distinct,
        "generated": whole.generated,
        "depth": whole.depth,
        "seconds": round(report.seconds, 2),
    }


def _whole_search(request: Request, report: Report) -> Result:
    """Give a search of all states: TLC ends at its first violation, so it has to search again and look for none."""
    [run] = report.runs
    if request.engine != "tlc" or report.verdict is not Verdict.VIOLATED:
        return run.result
    result = tlc.check(run.configuration.bounds, request.rules, (), symmetry=request.symmetry)
    if INTERRUPTED in result.notes:
        raise KeyboardInterrupt
    return result


# -- what the tables share ---------------------------------------------------------------------------------------------


def _report(request: Request, on_configuration: OnConfiguration, *, first_only: bool = False) -> Report:
    found = carry_out(request, on_configuration, first_only=first_only)
    if found.stopped == INTERRUPTED:
        raise KeyboardInterrupt  # half of a row would be no row
    return Report(found)


def _made(
    row: Callable[[Request, OnConfiguration], Row],
    asked: Sequence[Request],
    on_configuration: OnConfiguration,
    share: Share | None,
) -> Iterator[Row]:
    """Make a row of each request: here, or shared out to workers, who tell of whole rows only."""
    if share is None:
        return (row(one, on_configuration) for one in asked)
    return share(partial(_row_there, row), asked)


def _row_there(row: Callable[[Request, OnConfiguration], Row], asked: Request) -> Row:
    return row(asked, lambda _: None)


def _collect(rows: Iterable[Row]) -> tuple[tuple[Row, ...], bool]:
    """List the rows there is time for, and say whether those are all."""
    collected: list[Row] = []
    try:
        for row in rows:
            collected.append(row)
    except (KeyboardInterrupt, WorkersLost) as stopped:
        if not collected:
            raise
        if isinstance(stopped, WorkersLost):
            remark(str(stopped))
        return tuple(collected), False
    return tuple(collected), True


def _verdict(rows: Sequence[Row], as_expected: bool, is_whole: bool) -> Verdict:
    if not is_whole or any(Verdict.INCOMPLETE.value in row.values() for row in rows):
        return Verdict.INCOMPLETE
    return Verdict.HOLDS if as_expected else Verdict.VIOLATED
