"""A report as a page for people: short when all is well, a story when it is not."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farref.model.checker.interface import Verdict
from farref.model.world import Bounds
from farref.properties.trace import Trace
from farref.report import Report

MARKS: Final = {
    Verdict.HOLDS: Text("✓ holds", "green"),
    Verdict.VIOLATED: Text("✗ violated", "bold red"),
    Verdict.INCOMPLETE: Text("? incomplete", "yellow"),
}
PIPED_WIDTH: Final = 120
DRAW: Final = "add --save trace.json, then farref explain trace.json -o trace.svg"


def console() -> Console:
    """Make the console that results are printed on; a pipe has no width of its own."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False, markup=False, emoji=False)


def show(report: Report) -> None:
    """Print a report."""
    page, trace = console(), report.trace
    page.print(_headline(report), style="bold")
    page.print(_configurations(report))
    page.print()
    page.print(_properties(report))
    page.print()
    page.print(_counts(report))
    for line in _coverage(report):
        page.print(line)
    for note in report.caveats:
        page.print(f"note: {note}", style="yellow")
    if trace is not None:
        show_story(page, trace)
        _show_others(page, report)
    page.print(_conclusion(report))


def _headline(report: Report) -> str:
    request = report.request
    rules = f"SOUND without {request.without}" if request.without else f"{request.profile.upper()} profile"
    what = f"claim {request.claim}" if request.claim else "every property"
    return f"{request.subject}: {what} under the {rules}, engine {request.engine_name}"


def _plain_table() -> Table:
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0), expand=True)


def _configurations(report: Report) -> Table:
    table = _plain_table()
    table.add_column("configuration", no_wrap=True)
    table.add_column("bounds", ratio=1, no_wrap=True)
    for name in ("states", "depth", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for run in report.runs:
        bounds, result = run.configuration.bounds, run.result
        counts = (f"{result.distinct:,}", str(result.depth), f"{result.seconds:.1f}")
        table.add_row(run.configuration.name, _describe(bounds), *counts, MARKS[run.verdict])
    return table


def _describe(bounds: Bounds) -> str:
    """Say bounds in words: the counts that are there, then what was switched."""
    parts: list[str] = []
    for bound in fields(Bounds):
        value, name = getattr(bounds, bound.name), bound.name.replace("_", " ")
        if isinstance(value, bool):
            parts += [] if value == bound.default else [name if value else f"no {name}"]
        elif value and (bound.name, value) != ("rrefs", 1):
            parts.append(f"{value} {name if value > 1 else name.removesuffix('es' if name == 'fetches' else 's')}")
    return ", ".join(parts)


def _properties(report: Report) -> Table:
    table = _plain_table()
    table.add_column("property", no_wrap=True)
    table.add_column("clause", no_wrap=True)
    table.add_column("", ratio=1, no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for one in report.claims:
        mark, steps = MARKS[report.verdicts[one.id]].copy(), report.steps_to_violation(one)
        mark.append(f" in {steps} steps" if steps is not None else "")
        table.add_row(one.id, one.clause, f"{one.kind.value}: {one.text}", mark)
    return table


def _counts(report: Report) -> str:
    rate = report.distinct / report.seconds if report.seconds else 0
    counts = f"{report.distinct:,} states, {report.generated:,} transitions, depth {report.depth}"
    cost = f"{report.seconds:.1f} s ({rate:,.0f} states/s), {report.peak_mb:.0f} MB"
    missed = f"; chance of a missed state < {report.collision_bound:.0e}" if report.collision_bound else ""
    return f"{counts} in {cost}{missed}"


def _coverage(report: Report) -> list[Text]:
    fired = len(report.coverage) - len(report.never_fired)
    never = f"; never: {', '.join(report.never_fired)}" if report.never_fired else ""
    lines = [Text(f"actions that happened: {fired} of {len(report.coverage)}{never}")] if report.coverage else []
    if report.witnesses:
        missing = [one.id for one in report.witnesses if report.verdicts[one.id] is not Verdict.HOLDS]
        reached = f"shown reachable: {len(report.witnesses) - len(missing)} of {len(report.witnesses)}"
        lines.append(Text(f"{reached}; not: {', '.join(missing)}" if missing else f"{reached}{_example(report)}"))
    return lines


def _example(report: Report) -> str:
    """Name the witness that was hardest to reach."""
    hardest = max(report.witnesses, key=lambda one: report.shortest(one) or 0)
    return f", for example in {report.shortest(hardest)} steps: {hardest.text}"


def show_story(page: Console, trace: Trace) -> None:
    """Print a counterexample as a numbered story, with what it breaks and what that means."""
    broken = trace.property
    page.print()
    page.print(Text.assemble((f"{broken.id} (clause {broken.clause}) is violated", "bold red"), f": {broken.text}"))
    steps = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    steps.add_column(justify="right", style="dim")
    steps.add_column()
    for number, step in enumerate(trace.steps, start=1):
        steps.add_row(str(number), step.text)
    page.print(steps)
    page.print(Text.assemble(("What this means: ", "bold"), trace.meaning))


def _show_others(page: Console, report: Report) -> None:
    others = [f"{name} in {len(found.actions)} steps" for name, (_, found) in report.counterexamples.items()]
    if len(others) > 1:
        page.print(
            f"Violated as well: {', '.join(others[1:])}. See one with --claim {list(report.counterexamples)[1]}."
        )
    page.print(Text.assemble(("See it again:     ", "bold"), report.replay or ""), soft_wrap=True)
    page.print(Text.assemble(("Draw it:          ", "bold"), DRAW))


def _conclusion(report: Report) -> Text:
    match report.verdict:
        case Verdict.HOLDS:
            where = "every configuration" if report.request.is_portfolio else "this configuration"
            return Text(f"HOLDS: in every reachable state of {where}.", "bold green")
        case Verdict.VIOLATED:
            unreached = [one.id for one in report.witnesses if report.verdicts[one.id] is Verdict.VIOLATED]
            return Text(f"VIOLATED{': never reached: ' if unreached else ''}{', '.join(unreached)}", "bold red")
        case Verdict.INCOMPLETE:
            return Text("INCOMPLETE: nothing found so far, and not everything was seen.", "bold yellow")
