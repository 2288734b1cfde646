"""`farref explain`: a saved counterexample as a story and as a diagram."""

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
from farref.terminal.exits import OK
from farref.terminal.files import print_json, write
from farref.terminal.output import page
from farref.terminal.traces import read_counterexample


@click.command()
@click.argument("trace", type=click.Path(dir_okay=False))
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write a message sequence diagram to this SVG file."
)
@format_option("pretty", "json")
def explain(trace: str, output: str | None, form: str) -> int:
    """Tell the story of a run that `farref check --save` or `farref fuzz --save` wrote.

    The model takes the steps again, so the story is what really happens, whatever the file says. What differed between model
    and backend is told as the file has it. A counterexample that `farref prove --save` wrote is two states: both are shown
    side by side, after the formulas were looked up in them again.

    \b
    farref check rref --profile torch --claim N1 --save trace.json
    farref explain trace.json
    farref explain trace.json -o trace.svg
    """
    if output is not None and not output.lower().endswith(".svg"):
        raise click.UsageError(f"-o draws SVG, and {output} does not end in .svg")
    told = read_counterexample(trace)
    if output is not None and isinstance(told, Trace) and told.subject not in PROTOCOLS:
        raise click.UsageError(f"-o draws messages between workers; a run of {told.subject} has none")
    if isinstance(told, Told):
        return _explain_induction(told, output, form)
    if output is not None:
        write(output, draw(told).encode(), "diagram")
    if form == "json":
        print_json(told)
    else:
        with page() as console:
            show_story(console, told)
            if told.disagreement is not None:
                show_differed(console, told.disagreement)
    return OK


def _explain_induction(told: Told, output: str | None, form: str) -> int:
    if output is not None:
        write(output, draw_states(told).encode(), "diagram")
    if form == "json":
        print_json(told_document(told))
    else:
        with page() as console:
            show_told(console, told)
    return OK
