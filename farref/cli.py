"""The commands of farref. Each one parses, calls, prints, and gives back its exit code; the work is done elsewhere."""

from __future__ import annotations

import signal
import sys
import traceback
from typing import Any, Final

import click

from farref import __version__
from farref.checking.report import EXIT_CODES, Report
from farref.checking.request import Request
from farref.checking.search import carry_out
from farref.checking.tables import (
    compare_engines,
    each_claim,
    each_rule,
    listing_document,
    listing_markdown,
    show_listing,
)
from farref.clauses import UnknownClauseError, clauses, find_clause, show_clause
from farref.commands.conform import conform
from farref.commands.doctor import examine, findings_document, is_fit, show_findings
from farref.commands.fuzz import fuzz
from farref.commands.replay import replay
from farref.model.checker.interface import ModelError
from farref.options.check import check_options, make_request, subject_argument
from farref.properties.traces.file import Trace, encode
from farref.rendering.checked import show, show_story
from farref.rendering.diagram import draw
from farref.rendering.document import document
from farref.terminal.files import print_json, read_trace, refuse_place, remark, write
from farref.terminal.output import discard, page, put
from farref.terminal.progress import telling
from farref.tlc.engine import TlcUnavailable
from farref.tlc.rref import TlcFailed

OK, USAGE, HARNESS, INCOMPLETE = 0, 2, 3, 4
"""The exit codes, the same for every command; those of verdicts are beside the verdicts."""

READER_LEFT: Final = 128 + signal.SIGPIPE

TABLES: Final = {"rule": each_rule, "claim": each_claim}


class Commands(click.Group):
    """A group whose errors are one line on stderr, and whose commands return their exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command, and end the process."""
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
        except click.ClickException as error:
            code = _complain(error.format_message(), USAGE)
        except (TlcUnavailable, TlcFailed, ModelError) as error:
            code = _complain(str(error), HARNESS)
        except (KeyboardInterrupt, click.Abort):
            code = _complain("interrupted", INCOMPLETE)
        except SystemExit:
            code = READER_LEFT  # click ends with 1 if nobody reads the help, and 1 is a verdict
        except OSError as error:
            discard()
            code = _complain(str(error), HARNESS)
        except Exception:
            traceback.print_exc()  # a fault of ours, and it must not be taken for a verdict
            code = HARNESS
        sys.exit(code or OK)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command, or say which there are."""
        if self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no command is called {args[0]!r}; there are {', '.join(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def _complain(message: str, code: int) -> int:
    remark(" ".join(message.split()))
    return code


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, message="farref %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> int:
    """A model-checked reference for PyTorch's RRef protocol and distributed autograd.

    \b
    farref check rref                     the sound protocol holds every property
    farref check rref --profile torch     PyTorch's rules, and how they break
    farref explain trace.json -o x.svg    draw a counterexample
    farref fuzz rref                      the implementation and the model agree on every step
    farref fuzz autograd                  the same for backward passes over random programs
    farref conform --backend torch        which clauses does a backend keep?
    farref spec R21                       read a clause of the spec
    farref doctor                         what works on this machine

    Exit codes: 0 holds, agreed or conforms, 1 violated, disagreed or broken, 2 wrong usage, 3 something needed is missing,
    4 ended with nothing decided.
    """
    if ctx.invoked_subcommand is None:
        put(ctx.get_help())
    return USAGE


@cli.command()
@subject_argument
@check_options
@click.option("--format", "form", type=click.Choice(["pretty", "json", "markdown"]), default="pretty", help="Output.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
def check(**given: Any) -> int:
    """Search every reachable state of a bounded world for a violation.

    Without any bound the standard portfolio is checked: configurations that together fire every action and exercise
    every rule. With any bound, that one configuration.

    \b
    farref check rref                                      the sound protocol, within a minute
    farref check rref --profile torch                      PyTorch's, until it breaks
    farref check rref --profile torch --claim N1           one known defect
    farref check rref --without entry_waits_for_creation   why that rule is there
    farref check rref --workers 3 --forks 3 --drops 1      one configuration of your own
    farref check autograd --each claim --format markdown   every known defect of distributed autograd
    farref check rref --profile torch --save trace.json    keep the counterexample
    """
    request = make_request(given)
    if given["each"] or given["compare_engines"]:
        return _check_many(request, given)
    if given["form"] == "markdown":
        raise click.UsageError("--format markdown is for tables; add --each rule or --each claim")
    refuse_place(given["save"])
    with telling(len(request.configurations), quiet=given["quiet"]) as on_configuration:
        report = Report(carry_out(request, on_configuration))
    if given["form"] == "json":
        print_json(document(report))
    else:
        show(report, given["save"])
    _save(report.trace, given["save"])
    return report.exit_code


def _check_many(request: Request, given: dict[str, Any]) -> int:
    if given["each"] and (request.claim or request.without or request.profile != "sound"):
        raise click.UsageError("--each goes through them all; leave out --claim, --without and --profile")
    if given["each"] == "claim" and not request.is_portfolio:
        raise click.UsageError("--each claim has its own bounds; leave out yours")
    if given["compare_engines"] and (given["each"] or request.walk or request.is_portfolio):
        raise click.UsageError(
            "--compare-engines needs one configuration: give bounds or a claim, neither --each nor --walk"
        )
    if given["save"]:
        raise click.UsageError("--save keeps one counterexample; leave out --each and --compare-engines")
    table = compare_engines if given["compare_engines"] else TABLES[given["each"]]
    with telling(None, quiet=given["quiet"]) as on_configuration:
        listing = table(request, on_configuration)
    match given["form"]:
        case "json":
            print_json(listing_document(listing))
        case "markdown":
            put(listing_markdown(listing))
        case _:
            with page() as console:
                show_listing(console, listing)
    return EXIT_CODES[listing.verdict]


def _save(trace: Trace | None, path: str | None) -> None:
    if path is not None and trace is not None:
        write(path, encode(trace), "counterexample")
    elif path is not None:
        remark(f"nothing was violated, so {path} was not written")


@cli.command()
@click.argument("trace", type=click.Path(dir_okay=False))
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Draw the message sequence diagram, an SVG file.")
@click.option("--format", "form", type=click.Choice(["pretty", "json"]), default="pretty", help="Output.")
def explain(trace: str, output: str | None, form: str) -> int:
    """Tell the story of a counterexample that `farref check --save` wrote.

    The trace is taken again on the model, so what is told is what really happens.

    \b
    farref check rref --profile torch --claim N1 --save trace.json
    farref explain trace.json
    farref explain trace.json -o trace.svg
    """
    if output is not None and not output.lower().endswith(".svg"):
        raise click.UsageError(f"-o draws SVG, and {output} does not end in .svg")
    told = read_trace(trace)
    if output is not None:
        write(output, draw(told).encode(), "diagram")
    if form == "json":
        print_json(told)
    else:
        with page() as console:
            show_story(console, told)
    return OK


@cli.command()
@click.argument("clause", required=False)
@click.option("--format", "form", type=click.Choice(["pretty", "json"]), default="pretty", help="Output.")
def spec(clause: str | None, form: str) -> int:
    """Print a clause of the spec with everything that cites it, or list the clauses.

    \b
    farref spec
    farref spec R7
    """
    try:
        found = list(clauses().values()) if clause is None else [find_clause(clause)]
    except UnknownClauseError as error:
        raise click.UsageError(str(error)) from error
    if form == "json":
        print_json(found)
    elif clause is None:
        put("\n".join(f"{one.id:4} {one.title}" for one in found))
    else:
        with page() as console:
            show_clause(console, found[0])
    return OK


@cli.command()
@click.option("--format", "form", type=click.Choice(["pretty", "json"]), default="pretty", help="Output.")
def doctor(form: str) -> int:
    """Say what works on this machine, and what is lost where something is missing."""
    findings = examine()
    if form == "json":
        print_json(findings_document(findings))
    else:
        with page() as console:
            show_findings(console, findings)
    return OK if is_fit(findings) else HARNESS


for command in (fuzz, replay, conform):
    cli.add_command(command)
