"""A report as a page for people: short when all is well, a story when it is not."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farref.checking.report import Report
from farref.model.autograd.world import EVERY
from farref.model.checker.interface import Verdict
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace, rules_text
from farref.rendering.layout import numbered, plain_table
from farref.terminal.output import page
from farref.words import counted

MARKS: Final = {
    Verdict.HOLDS: Text("✓ holds", "green"),
    Verdict.VIOLATED: Text("✗ violated", "bold red"),
    Verdict.INCOMPLETE: Text("? incomplete", "yellow"),
}
NOT_DECIDED: Final = Text("? not decided", "yellow")


def show(report: Report, saved: str | None = None) -> None:
    """Print a report, whose counterexample is saved to a file."""
    with page() as console:
        console.print(_headline(report), style="bold")
        console.print(_configurations(report))
        console.print()
        console.print(_properties(report))
        console.print()
        console.print(_counts(report))
        for line in _coverage(report):
            console.print(line)
        for note in report.caveats:
            console.print(f"note: {note}", style="yellow")
        if report.trace is not None:
            show_story(console, report.trace)
            _show_others(console, report)
            console.print(Text.assemble(("See it again:     ", "bold"), report.replay or ""), soft_wrap=True)
            if report.request.subject in PROTOCOLS:
                console.print(Text.assemble(("Draw it:          ", "bold"), _how_to_draw(saved)), soft_wrap=True)
        console.print(_conclusion(report))


def _headline(report: Report) -> str:
    request = report.request
    what = f"claim {request.claim}" if request.claim else "every property"
    rules = rules_text(request.profile, request.without)
    return f"{request.subject}: {what} under {rules}, engine {request.engine_name}"


def _configurations(report: Report) -> Table:
    table = plain_table(expand=True)
    table.add_column("configuration", no_wrap=True)
    table.add_column("bounds", ratio=1)
    for name in ("states", "depth", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for run in report.runs:
        bounds, result = run.configuration.bounds, run.result
        counts = (f"{result.distinct:,}", str(result.depth), f"{result.seconds:.1f}")
        table.add_row(run.configuration.name, _describe(bounds), *counts, _mark(report, run.verdict))
    return table


def _mark(report: Report, verdict: Verdict) -> Text:
    """Mark a verdict. What was not looked at once something else broke is not a shortcoming of the search."""
    is_left_open = verdict is Verdict.INCOMPLETE and report.verdict is Verdict.VIOLATED
    return (NOT_DECIDED if is_left_open else MARKS[verdict]).copy()


def _describe(bounds: Any) -> str:
    """Say bounds in words: the counts that are there, then what was switched."""
    parts: list[str] = []
    for bound in fields(bounds):
        value, name = getattr(bounds, bound.name), bound.name.replace("_", " ")
        if isinstance(value, str):
            parts.append(f"{name} {value}")
        elif isinstance(value, bool):
            parts += [] if value == bound.default else [name if value else f"no {name}"]
        elif value and (bound.name, value) != ("rrefs", 1) and not _is_told_by_graph(bounds, bound.name):
            parts.append(f"{value} {name if value > 1 else name.removesuffix('es' if name in ES_PLURALS else 's')}")
    return ", ".join(parts)


ES_PLURALS: Final = ("fetches", "passes", "crashes")


def _is_told_by_graph(bounds: Any, name: str) -> bool:
    """Say whether a bound is settled by the graph that is named."""
    return name in ("workers", "pairs") and getattr(bounds, "graph", EVERY) != EVERY


def _properties(report: Report) -> Table:
    table = plain_table(expand=True)
    table.add_column("property", no_wrap=True)
    table.add_column("clause", no_wrap=True)
    table.add_column("", ratio=1)
    table.add_column("verdict", no_wrap=True)
    for one in report.claims:
        mark, steps = _mark(report, report.verdicts[one.id]), report.steps_to_violation(one)
        mark.append("" if steps is None else f" in {counted(steps, 'step')}")
        table.add_row(one.id, one.clause, f"{one.kind.value}: {one.text}", mark)
    return table


def _counts(report: Report) -> str:
    rate = report.distinct / report.seconds if report.seconds else 0
    seen = f"{counted(report.distinct, 'state')}, {counted(report.generated, 'transition')}"
    cost = f"{report.seconds:.1f} s ({rate:,.0f} states/s), {report.peak_mb:.0f} MB"
    missed = f"; chance of a missed state < {report.collision_bound:.0e}" if report.collision_bound else ""
    return f"{seen}, depth {report.depth} in {cost}{missed}"


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
    return f", for example in {counted(report.shortest(hardest) or 0, 'step')}: {hardest.text}"


def show_story(console: Console, trace: Trace) -> None:
    """Print a run as a numbered story, with what it breaks and what that means."""
    broken = trace.property
    console.print()
    if broken is not None:
        console.print(
            Text.assemble((f"{broken.id} (clause {broken.clause}) is violated", "bold red"), f": {broken.text}")
        )
    console.print(numbered([step.text for step in trace.steps]))
    console.print(Text.assemble(("What this means: ", "bold"), trace.meaning))


def _show_others(console: Console, report: Report) -> None:
    found = {name: counted(len(run.actions), "step") for name, (_, run) in report.counterexamples.items()}
    others = list(found)[1:]
    if others:
        told = ", ".join(f"{name} in {found[name]}" for name in others)
        console.print(f"Violated as well: {told}. See one with --claim {others[0]}.")


def _how_to_draw(saved: str | None) -> str:
    if saved is None:
        return "add --save trace.json, then farref explain trace.json -o trace.svg"
    return shlex.join(["farref", "explain", saved, "-o", str(Path(saved).with_suffix(".svg"))])


def _conclusion(report: Report) -> Text:
    match report.verdict:
        case Verdict.HOLDS:
            where = "every configuration" if report.request.is_portfolio else "this configuration"
            is_defect = report.request.claim in report.request.about.claims and report.request.is_expected_to_hold
            hint = " Add --profile torch to see it break." if is_defect else ""
            return Text.assemble((f"HOLDS: in every reachable state of {where}.", "bold green"), hint)
        case Verdict.VIOLATED:
            unreached = [one.id for one in report.witnesses if report.verdicts[one.id] is Verdict.VIOLATED]
            return Text(f"VIOLATED{': never reached: ' if unreached else ''}{', '.join(unreached)}", "bold red")
        case Verdict.INCOMPLETE:
            return Text("INCOMPLETE: nothing found so far, and not everything was seen.", "bold yellow")
