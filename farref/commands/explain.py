"""`farref explain`: a saved counterexample as a story, as a diagram, and in the formats of other tools."""

from __future__ import annotations

import click

from farref.options.groups import format_option
from farref.properties.proof.induction.tell import Told
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace
from farref.rendering.agreement import show_differed
from farref.rendering.checked import show_story
from farref.rendering.diagram import draw
from farref.rendering.proved import show_told, told_document
from farref.rendering.states import draw_states
from farref.rendering.traces.formats import LOGS, MESSAGES, TRACES
from farref.rendering.traces.tlc import UntoldError
from farref.terminal.exits import OK
from farref.terminal.files import print_json, write
from farref.terminal.logs import is_log, read_log
from farref.terminal.output import page, put
from farref.terminal.traces import read_counterexample


@click.command()
@click.argument("trace", type=click.Path())
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write a message sequence diagram to this SVG file."
)
@format_option("pretty", "json", *TRACES)
def explain(trace: str, output: str | None, form: str) -> int:
    """Tell the story of a run that `farref check --save` or `farref fuzz --save` wrote.

    The model takes the steps again, so the story is what really happens, whatever the file says. What differed between model
    and backend is told as the file has it. A counterexample that `farref prove --save` wrote is two states: both are shown
    side by side, after the formulas were looked up in them again.

    \b
    farref check rref --profile torch --claim N1 --save trace.json
    farref explain trace.json
    farref explain trace.json -o trace.svg
    farref explain trace.json --format itf > trace.itf.json     for Quint and the ITF viewer; farref replay reads it too
    farref explain trace.json --format mermaid                  for an issue on GitHub
    farref explain trace.json --format shiviz                   for ShiViz
    farref explain trace.json --format tlc > MCRRef.out         as TLC writes it, for the TLA+ extension of VS Code
    farref explain logs/ --format perfetto > logs.json          logs of real processes, for ui.perfetto.dev (or shiviz)
    """
    if output is not None and not output.lower().endswith(".svg"):
        raise click.UsageError(f"-o draws SVG, and {output} does not end in .svg")
    if is_log(trace):
        return _explain_log(trace, output, form)
    told = read_counterexample(trace)
    if output is not None and isinstance(told, Trace) and told.subject not in PROTOCOLS:
        raise click.UsageError(f"-o draws messages between workers; a run of {told.subject} has none")
    if isinstance(told, Told):
        return _explain_induction(told, output, form)
    if output is not None:
        write(output, draw(told).encode(), "diagram")
    if form in TRACES:
        put(_written(told, form))
    elif form == "json":
        print_json(told)
    else:
        with page() as console:
            show_story(console, told)
            if told.disagreement is not None:
                show_differed(console, told.disagreement)
    return OK


def _written(trace: Trace, form: str) -> str:
    """Write a trace in the format of another tool, or say why that cannot be."""
    if form in MESSAGES and trace.subject not in PROTOCOLS:
        raise click.UsageError(f"--format {form} is about messages between workers; a run of {trace.subject} has none")
    try:
        return TRACES[form](trace).rstrip("\n")
    except UntoldError as error:
        raise click.UsageError(f"--format tlc: {error}") from error


def _explain_log(path: str, output: str | None, form: str) -> int:
    if output is not None or form not in LOGS:
        known = " or ".join(f"--format {one}" for one in LOGS)
        raise click.UsageError(f"{path} is a directory, or a log: those of real processes are shown with {known}")
    put(LOGS[form](read_log((path,))).rstrip("\n"))
    return OK


def _explain_induction(told: Told, output: str | None, form: str) -> int:
    if form in TRACES:
        raise click.UsageError(f"--format {form} is for runs; this is two states, of a proof")
    if output is not None:
        write(output, draw_states(told).encode(), "diagram")
    if form == "json":
        print_json(told_document(told))
    else:
        with page() as console:
            show_told(console, told)
    return OK
