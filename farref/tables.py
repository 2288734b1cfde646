"""Tables over several checks: every rule taken away, every claim under both profiles, every engine on one configuration.

Each table knows what it should show, so that a build can depend on it: that every rule is needed, that every claim breaks
PyTorch's protocol and not ours, that the engines agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from farref import tlc
from farref.model.checker.interface import Result, Verdict
from farref.model.rules import RULES, clause_of, text_of
from farref.properties.claims import CLAIMS, Claim
from farref.properties.portfolio import Configuration
from farref.report import Report
from farref.request import Request
from farref.search import OnConfiguration, carry_out
from farref.tlc import TlcUnavailable

Row = dict[str, Any]

ENGINES_COMPARED: Final = ("reference", "fast", "tlc")
COMPARED: Final = ("verdict", "shortest", "distinct", "depth")


@dataclass(frozen=True)
class Listing:
    """Rows with the same columns, and whether they show what they should."""

    title: str
    rows: tuple[Row, ...]
    as_expected: bool
    expectation: str


def each_rule(request: Request, on_configuration: OnConfiguration) -> Listing:
    """Take away each rule in turn, and say what then breaks."""
    rows = tuple(_rule_row(replace(request, without=rule), on_configuration) for rule in RULES)
    broken = all(row["verdict"] == Verdict.VIOLATED.value for row in rows)
    return Listing("SOUND without one rule", rows, broken, "every rule is necessary")


def _rule_row(request: Request, on_configuration: OnConfiguration) -> Row:
    report = Report(carry_out(request, on_configuration, first_only=True))
    rule = request.without or ""
    return {"rule": rule, "clause": clause_of(rule), "text": text_of(rule), **_finding(report)}


def _finding(report: Report) -> Row:
    for name, (run, counterexample) in report.counterexamples.items():
        where = {"configuration": run.configuration.name, "distinct": run.result.distinct}
        return {"verdict": report.verdict.value, "breaks": name, "steps": len(counterexample.actions), **where}
    return {
        "verdict": report.verdict.value,
        "breaks": None,
        "steps": None,
        "configuration": None,
        "distinct": report.distinct,
    }


def each_claim(request: Request, on_configuration: OnConfiguration) -> Listing:
    """Check each claim under both profiles."""
    rows = tuple(_claim_row(request, claim, on_configuration) for claim in CLAIMS.values())
    split = all((row["torch"], row["sound"]) == (Verdict.VIOLATED.value, Verdict.HOLDS.value) for row in rows)
    return Listing("Known defects", rows, split, "every claim is violated under TORCH and holds under SOUND")


def _claim_row(request: Request, claim: Claim, on_configuration: OnConfiguration) -> Row:
    configuration = Configuration(claim.id, claim.bounds, claim.title)
    asked = replace(request.narrowed(configuration), claim=claim.id)
    torch = Report(carry_out(replace(asked, profile="torch"), on_configuration, first_only=True))
    sound = Report(carry_out(asked, on_configuration))
    steps = torch.steps_to_violation(claim.property)
    told = {"claim": claim.id, "clause": claim.clause, "text": claim.title}
    return {
        **told,
        "torch": torch.verdict.value,
        "steps": steps,
        "sound": sound.verdict.value,
        "distinct": sound.distinct,
    }


def compare_engines(request: Request, on_configuration: OnConfiguration) -> Listing:
    """Let each engine check the same configuration; TLC is left out, and that is said, where there is no Java."""
    rows = [_engine_row(replace(request, engine=engine), on_configuration) for engine in ENGINES_COMPARED]
    answers = {tuple(row[name] for name in COMPARED) for row in rows if row["distinct"] is not None}
    return Listing(
        request.command(), tuple(rows), len(answers) == 1, "the engines that ran agree on verdict, shortest, distinct and depth"
    )


def _engine_row(request: Request, on_configuration: OnConfiguration) -> Row:
    try:
        report = Report(carry_out(request, on_configuration))
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
    return tlc.check(run.configuration.bounds, request.rules, ())


# -- printing ----------------------------------------------------------------------------------------------------------


def listing_document(listing: Listing) -> Row:
    """Say a table as one JSON object."""
    return {
        "title": listing.title,
        "expectation": listing.expectation,
        "as_expected": listing.as_expected,
        "rows": list(listing.rows),
    }


def listing_markdown(listing: Listing) -> str:
    """Write a table for a README."""
    names = list(listing.rows[0])
    lines = [names, ["---:" if _is_number(listing.rows, name) else "---" for name in names]]
    lines += [[_cell(row[name]) for name in names] for row in listing.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def show_listing(page: Console, listing: Listing) -> None:
    """Print a table for people."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in listing.rows[0]:
        is_number = _is_number(listing.rows, name)
        table.add_column(name, justify="right" if is_number else "left", no_wrap=name != "text")
    for row in listing.rows:
        table.add_row(*map(_cell, row.values()))
    page.print(listing.title, style="bold", soft_wrap=True)
    page.print(table)
    mark, style = ("✓", "bold green") if listing.as_expected else ("✗ not so:", "bold red")
    page.print(f"{mark} {listing.expectation}", style=style)


def _is_number(rows: Sequence[Row], name: str) -> bool:
    return any(isinstance(row[name], int | float) for row in rows)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int | float) else str(value)
