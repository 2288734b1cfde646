"""`farref explore`: a page in the browser, on which one walks through a world step by step."""

from __future__ import annotations

import webbrowser
from typing import Any

import click

from farref.checking.report import Report
from farref.checking.request import Request
from farref.checking.search import carry_out
from farref.exploring.guide import Guide
from farref.exploring.logged import LoggedWorld, logged_document
from farref.exploring.opening import document
from farref.exploring.page import whole_page
from farref.exploring.server import Answering, ExplorerServer
from farref.exploring.world import OpenWorld
from farref.model.checker.interface import Budget
from farref.options.bounds import bounds_given, protocol_bounds_options
from farref.options.check import explored_request, world_options
from farref.options.groups import OUTPUT, GroupedCommand, option, protocol_argument
from farref.properties.logs.format import SUBJECT
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace
from farref.rendering.validated import Validated
from farref.terminal.exits import OK
from farref.terminal.files import refuse_other_than_page, refuse_place, write
from farref.terminal.logs import is_log
from farref.terminal.output import remark
from farref.terminal.traces import read_trace

SEARCH = Budget(states_max=2_000_000, seconds_max=60.0)
"""How long the run of a claim is looked for."""


@click.command(cls=GroupedCommand)
@protocol_argument
@click.argument("trace", type=click.Path(), required=False)
@protocol_bounds_options
@world_options
@option(
    OUTPUT,
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write one HTML file, and serve nothing.",
)
@option(OUTPUT, "--no-browser", is_flag=True, help="Open no browser; the address is printed.")
def explore(**given: Any) -> int:
    """Walk through a world in the browser, step by step.

    The page shows each worker's lane and tables, what a step changed, which sentences hold, and what can happen next. Take
    other turns, switch rules, compare two runs, and send the link. Only this machine can see the page; Ctrl-C ends it.

    With -o, one file is written that needs no server. It has the states around the run only.

    \b
    farref explore rref --profile torch --claim N1             the shortest run to a known defect
    farref explore autograd --profile torch --claim D5         the same for a backward pass
    farref explore rref trace.json                             a run that check, fuzz or explain --format itf wrote
    farref explore rref logs/                                  what real processes did, event by event
    farref explore rref --workers 2 --forks 2                  an empty world
    farref explore rref --profile torch --claim N1 -o n1.html  one file to send
    """
    refuse_place(given["output"])
    refuse_other_than_page(given["output"])
    answering = _logged(given) if given["trace"] and is_log(given["trace"]) else _walked(given)
    if given["output"] is None:
        return serve(answering, given["no_browser"])
    write(given["output"], whole_page(answering.document).encode(), "page")
    return OK


def _walked(given: dict[str, Any]) -> OpenWorld:
    guide, trace = _opened(given)
    return OpenWorld(guide, document(guide, trace, is_part=given["output"] is not None))


def _logged(given: dict[str, Any]) -> LoggedWorld:
    """Read the logs of real processes, and what the model says of them."""
    if given["subject"] != SUBJECT:
        raise click.UsageError(f"logs are of {SUBJECT}; farref explore {SUBJECT} {given['trace']} shows them")
    validated = Validated((given["trace"],))
    return LoggedWorld(logged_document(validated.log, validated.finding))


def _opened(given: dict[str, Any]) -> tuple[Guide, Trace | None]:
    """Find the world that is meant, and the run that it is opened with."""
    about = PROTOCOLS[given["subject"]]
    if given["trace"] is None:
        request = explored_request(given, SEARCH)
        trace = _run_of(request) if request.claim is not None else None
        return Guide(request.configurations[0].bounds, request.rules), trace
    trace = read_trace(given["trace"])
    if trace.subject != about.name:
        raise click.UsageError(f"{given['trace']} is a run of {trace.subject}, not of {about.name}")
    named = [name for name in ("without", "claim") if given[name]] + list(bounds_given(given, about))
    if named or given["profile"] != "sound":
        flag = (named or ["profile"])[0].replace("_", "-")
        raise click.UsageError(f"{given['trace']} says which world it is of; leave out --{flag}")
    return Guide(trace.bounds, about.rules_of(trace.profile, trace.without)), trace


def _run_of(request: Request) -> Trace | None:
    """Search for the shortest run that breaks a claim."""
    trace = Report(carry_out(request, lambda _: None, first_only=True)).trace
    if trace is None:
        remark(f"no run was found that breaks {request.claim} under these rules: the walk begins with nothing")
    return trace


def serve(answering: Answering, is_hidden: bool) -> int:
    """Serve the page until Ctrl-C."""
    with ExplorerServer(answering) as server:
        try:
            remark(f"the page is at {server.address} (Ctrl-C ends it)")
            if not is_hidden:
                webbrowser.open(server.address)
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            remark("closed")
    return OK
