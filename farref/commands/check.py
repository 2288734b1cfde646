"""`farref check`: search every reachable state of bounded worlds, or make a table of many such searches."""

from __future__ import annotations

from typing import Any, Final

import click

from farref.checking.report import EXIT_CODES, Report
from farref.checking.request import Request
from farref.checking.search import carry_out
from farref.checking.tables import Listing, compare_engines, each_claim, each_rule
from farref.model.checker.interface import Verdict
from farref.options.check import check_options, make_request
from farref.options.groups import GroupedCommand, format_option, junit_option, quiet_option, subject_argument
from farref.options.work import is_shared, work_given
from farref.properties.traces.file import encode
from farref.properties.work.hiring import hire
from farref.rendering.checked import show
from farref.rendering.document import document
from farref.rendering.junit import Suite, junit
from farref.rendering.suites import checked_suite, listed_suite
from farref.rendering.tables import listing_document, listing_markdown, show_listing
from farref.terminal.files import print_json, refuse_place, write
from farref.terminal.output import page, put, remark
from farref.terminal.progress import saying, sharing, telling

TABLES: Final = {"rule": each_rule, "claim": each_claim}


@click.command(cls=GroupedCommand)
@subject_argument
@check_options
@junit_option
@format_option("pretty", "json", "markdown")
@quiet_option
def check(**given: Any) -> int:
    """Search every reachable state of a bounded world for a violation.

    Without a bound, the standard portfolio is checked: configurations that together use every action and every rule. With a
    bound, one configuration is checked: the bounds that you give, and the defaults of the others.

    \b
    farref check rref                                      the sound protocol, within a minute
    farref check rref --profile torch                      PyTorch's, until it breaks
    farref check rref --profile torch --claim N1           one known defect
    farref check rref --without entry_waits_for_creation   why that rule is there
    farref check rref --workers 3 --forks 3 --drops 1      one configuration of your own
    farref check autograd --each claim --format markdown   every known defect of distributed autograd
    farref check rref --each rule --cluster local          its rows shared on a Dask cluster, here on this machine
    farref check threads                                   the threads of the implementation: no wake-up is lost
    farref check rref --profile torch --save trace.json    keep the counterexample
    farref check rref --workers 3 --forks 4 --disk states  a world beyond memory; --resume states goes on with it
    """
    request = make_request(given)
    if given["each"] or given["compare_engines"]:
        return _check_many(request, given)
    if is_shared(given):
        raise click.UsageError("--jobs and --cluster share the rows of a table; add --each rule or --each claim")
    if given["form"] == "markdown":
        raise click.UsageError("--format markdown is for tables; add --each rule or --each claim")
    refuse_place(given["save"])
    refuse_place(given["junit"])
    with telling(len(request.configurations), quiet=given["quiet"]) as on_configuration:
        report = Report(carry_out(request, on_configuration))
    if given["form"] == "json":
        print_json(document(report))
    else:
        show(report, given["save"])
    _save(report, given["save"])
    _write_junit(checked_suite(report), given["junit"])
    return report.exit_code


def _check_many(request: Request, given: dict[str, Any]) -> int:
    _refuse_many(request, given)
    refuse_place(given["junit"])
    listing = _shared_listing(request, given) if is_shared(given) else _listing(request, given)
    _print(listing, given["form"])
    _write_junit(listed_suite(listing), given["junit"])
    return EXIT_CODES[listing.verdict]


def _listing(request: Request, given: dict[str, Any]) -> Listing:
    table = compare_engines if given["compare_engines"] else TABLES[given["each"]]
    with telling(None, quiet=given["quiet"]) as on_configuration:
        return table(request, on_configuration)


def _shared_listing(request: Request, given: dict[str, Any]) -> Listing:
    with saying(quiet=given["quiet"]) as say, hire(**work_given(given)) as workers:
        return TABLES[given["each"]](request, lambda _: None, sharing(workers, "row", say))


def _refuse_many(request: Request, given: dict[str, Any]) -> None:
    """Refuse what does not go together with a table."""
    if given["each"] and (request.claim or request.without or request.profile != "sound"):
        raise click.UsageError("--each goes through them all; leave out --claim, --without and --profile")
    if given["each"] == "claim" and not request.is_portfolio:
        raise click.UsageError("--each claim has its own bounds; leave out yours")
    if given["compare_engines"] and (given["each"] or request.walk or request.is_portfolio):
        raise click.UsageError(
            "--compare-engines needs one configuration: give bounds or a claim, neither --each nor --walk"
        )
    if is_shared(given) and not given["each"]:
        raise click.UsageError("--jobs and --cluster share the rows of --each; leave them out")
    if given["save"]:
        raise click.UsageError("--save keeps one counterexample; leave out --each and --compare-engines")


def _print(listing: Listing, form: str) -> None:
    match form:
        case "json":
            print_json(listing_document(listing))
        case "markdown":
            put(listing_markdown(listing))
        case _:
            with page() as console:
                show_listing(console, listing)


def _write_junit(suite: Suite, path: str | None) -> None:
    if path is not None:
        write(path, junit([suite]).encode(), "JUnit report")


def _save(report: Report, path: str | None) -> None:
    trace = report.trace
    if path is not None and trace is not None:
        write(path, encode(trace), "counterexample")
    elif path is not None:
        why = "TLC has no run of the model to keep" if report.verdict is Verdict.VIOLATED else "nothing was violated"
        remark(f"{why}, so {path} was not written")
