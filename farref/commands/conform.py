"""`farref conform`: judge a backend, clause by clause."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec
from rich.console import Console

from farref.judging.plan import Asked, all_checks, judge_all, make_plan
from farref.judging.skeleton import write_skeleton
from farref.judging.validate import validate_adapters
from farref.options.numbers import Seconds, WholeNumber
from farref.properties.conformance.kit.available import availability
from farref.properties.conformance.kit.document import DocumentError, Report, decode, merged, together
from farref.properties.conformance.kit.expectations import ExpectationsError
from farref.properties.conformance.kit.named import NAMED, Target, UnknownBackendError, spoken, target
from farref.properties.conformance.kit.runner import Plan
from farref.properties.conformance.kit.suite import UnknownCheckError
from farref.rendering.conformance.conclusion import EXIT_CODES, Conclusion, conclusion, counts, sentence, title
from farref.rendering.conformance.console import show_reports
from farref.rendering.conformance.html import to_html
from farref.rendering.conformance.junit import to_junit
from farref.rendering.conformance.listing import list_document, show_backends, show_list
from farref.rendering.conformance.markdown import to_markdown
from farref.terminal.files import print_json, read, refuse_place, replace
from farref.terminal.interrupts import held_back
from farref.terminal.output import PIPED_WIDTH, page, put, remark

FORMATS: Final = ("pretty", "json", "junit", "html", "markdown")
SUFFIXES: Final = {".json": "json", ".xml": "junit", ".html": "html", ".htm": "html", ".md": "markdown"}
MERGE: Final = "--merge"
COMMAND: Final = "farref.commands.conform.command"
Command = TypeVar("Command", bound=Callable[..., Any])


class ConformCommand(click.Command):
    """A command whose words after `--` are a command of their own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what stands after `--`, and parse the rest."""
        if "--" in args:
            place = args.index("--")
            ctx.meta[COMMAND], args = tuple(args[place + 1 :]), args[:place]
            if not ctx.meta[COMMAND]:
                ctx.fail("after -- there must be the command that starts an adapter")
        args = _spread(args)
        if extra := self._extra(ctx, list(args)):
            ctx.fail(f"{extra!r} is not an option; a backend is given as --backend {extra}, a command after --")
        return super().parse_args(ctx, args)

    def _extra(self, ctx: click.Context, args: list[str]) -> str | None:
        try:
            _, extra, _ = self.make_parser(ctx).parse_args(args)
        except click.UsageError:
            return None  # it is told when the words are parsed in earnest
        return extra[0] if extra else None


def _spread(args: list[str]) -> list[str]:
    """Let `--merge` have every file that follows it, as a shell writes *.json."""
    spread: list[str] = []
    is_merging = False
    for word in args:
        is_file = is_merging and not word.startswith("-")
        spread += [MERGE, word] if is_file and spread[-1] != MERGE else [word]
        is_merging = is_file or word == MERGE
    return spread


def conform_options(command: Command) -> Command:
    """Add the flags of `farref conform`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_FILE: Final = click.Path(dir_okay=False)
_OPTIONS: Final[list[Callable[[Any], Any]]] = [
    click.option(
        "--backend", "backends", multiple=True, metavar="B",
        help=f"Backend to judge: {', '.join(NAMED)}, a file.py or a module:attribute. Several give a matrix.",
    ),
    click.option("--list", "listed", is_flag=True, help="List the checks and what each needs; run none."),
    click.option(
        "--list-backends", "backends_listed", is_flag=True,
        help="List the backends known by name: what is ready here, and what the others lack.",
    ),
    click.option("--init", "skeleton", metavar="NAME", help="Write the skeleton of an adapter to NAME.py."),
    click.option(
        "--only", multiple=True, metavar="ID", help="Run only the checks of this clause, or this check. May be repeated."
    ),
    click.option(
        "--expectations", metavar="FILE",
        help="TOML file of known failures, or none. The named backends come with their own.",
    ),
    click.option(
        "--format", "form", type=click.Choice(FORMATS),
        help="Format of the report. Default pretty, or what the ending of FILE says.",
    ),
    click.option("-o", "--output", type=_FILE, metavar="FILE", help="Write the report to a file."),
    click.option("--seed", type=int, help="Seed of everything that is random. Default 0."),
    click.option("--seconds", type=Seconds(), help="Begin no new check after this many seconds."),
    click.option(
        "--start-seconds", type=Seconds(), help="Give the backend so long to start. Default 60."
    ),
    click.option("--runs", type=WholeNumber(1), help="Number of times a failing check is run. Default 3."),
    click.option(
        "--from", "saved", multiple=True, type=_FILE, metavar="FILE",
        help="Show a saved JSON report, alone or beside the new ones.",
    ),
    click.option(
        MERGE, multiple=True, type=_FILE, metavar="FILE...",
        help="Put saved JSON reports together, as of several machines: a column for each backend.",
    ),
    click.option(
        "--validate-adapter", "validated", is_flag=True, help="Only say whether the adapter speaks the protocol."
    ),
    click.option("--quiet", is_flag=True, help="Print no progress on stderr."),
]  # fmt: skip


@click.command(cls=ConformCommand)
@conform_options
@click.pass_context
def conform(ctx: click.Context, /, **given: Any) -> int:
    """Judge a backend: which clauses of the spec it keeps, which it breaks, and how to see that again.

    The kit talks to a backend through an adapter: a small file in Python, or a program in any language. spec/conformance.md
    is the manual. Checks that need what an adapter does not declare are skipped.

    \b
    farref conform --backend processes                     ours
    farref conform --backend torch                         PyTorch's (in a checkout: pip install '.[torch]')
    farref conform --backend my_adapter.py --only R21      one clause
    farref conform --backend torch --backend processes -o matrix.html
    farref conform -- node adapter.mjs                     an adapter in another language
    farref conform --from report.json --format markdown    show a saved report
    farref conform --merge *.json -o matrix.html           put reports of several machines together
    farref conform --validate-adapter --backend my_adapter.py
    farref conform --list                                  the checks, and what they need
    farref conform --list-backends                         what can be judged here by name
    farref conform --init my_adapter                       begin an adapter

    Exit codes: 0 conforms, 1 a clause is broken or an expected failure did not happen, 2 wrong usage, 3 the adapter or the
    kit failed, 4 some checks were not run, because the time was over or somebody pressed Ctrl-C. The report then has what
    was found until that moment.
    """
    command = ctx.meta.get(COMMAND)
    form = _form(given["form"], given["output"])
    if given["skeleton"] is not None:
        return write_skeleton(given["skeleton"])
    if given["listed"] or given["backends_listed"]:
        return _list(form, backends=given["backends_listed"])
    targets = _targets(given["backends"], command)
    if given["validated"]:
        return validate_adapters(targets, given["start_seconds"] or Asked.start_seconds)
    _refuse(given, targets)
    refuse_place(given["output"])
    saved = tuple(report for path in given["saved"] for report in _read(path))
    saved += merged(tuple(report for path in given["merge"] for report in _read(path)))
    judged = judge_all(targets, _plans(targets, given), quiet=given["quiet"])
    for complaint in judged.complaints:
        remark(complaint)
    reports = (*saved, *judged.reports)
    if reports:
        with held_back():
            _publish(reports, form, given["output"])
    if judged.is_interrupted:
        raise KeyboardInterrupt  # what was found is told; how it ended comes last
    return EXIT_CODES[Conclusion.HARNESS] if judged.complaints or not reports else EXIT_CODES[conclusion(reports)]


def _list(form: str, *, backends: bool) -> int:
    if form not in ("json", "pretty"):
        raise click.UsageError("--list and --list-backends are printed as pretty or json")
    if form == "json":
        print_json(availability() if backends else list_document(all_checks()))
        return 0
    with page() as console:
        if backends:
            show_backends(console, availability())
        else:
            show_list(console, all_checks())
    return 0


def _targets(backends: Sequence[str], command: tuple[str, ...] | None) -> list[Target]:
    try:
        found = [target(one) for one in backends]
    except UnknownBackendError as error:
        raise click.UsageError(str(error)) from error
    return found if command is None else [*found, spoken(command)]


def _form(given: str | None, output: str | None) -> str:
    """Choose the format that was asked for, or that the file's name says; refuse two that differ."""
    named = SUFFIXES.get(Path(output or "").suffix.lower())
    if given is not None and named not in (None, given):
        raise click.UsageError(f"{output} would be {named}, and --format says {given}; leave one of them out")
    return given or named or "pretty"


def _refuse(given: dict[str, Any], targets: Sequence[Target]) -> None:
    """Refuse what would not be heeded, and nothing at all."""
    if not targets and not given["saved"] and not given["merge"]:
        raise click.UsageError(
            f"there is nothing to judge; give --backend ({', '.join(NAMED)}, a file.py, a module:attribute), "
            "a command after --, or --from FILE"
        )
    for option in ("only", "expectations", "seed", "seconds", "start_seconds", "runs"):
        if not targets and given[option]:
            raise click.UsageError(
                f"--{option.replace('_', '-')} is for a run; --from only shows what was found before"
            )


def _plans(targets: Sequence[Target], given: dict[str, Any]) -> list[Plan]:
    asked = Asked(
        only=given["only"],
        expectations=given["expectations"],
        seed=given["seed"] or 0,
        seconds=given["seconds"],
        runs=given["runs"] or Asked.runs,
        start_seconds=given["start_seconds"] or Asked.start_seconds,
    )
    try:
        return [make_plan(one, asked) for one in targets]
    except (ExpectationsError, UnknownCheckError) as error:
        raise click.UsageError(str(error)) from error


def _read(path: str) -> tuple[Report, ...]:
    try:
        return decode(read(path))
    except DocumentError as error:
        raise click.UsageError(f"{path}: {error}") from error


def _publish(reports: tuple[Report, ...], form: str, output: str | None) -> None:
    if output is not None:
        replace(output, _rendered(reports, form).encode(), "report")
        for report in reports:
            remark(f"{title(report)}: {counts(report)}")
        remark(sentence(reports))
    elif form == "pretty":
        with page() as console:
            show_reports(console, reports)
    else:
        put(_rendered(reports, form).removesuffix("\n"))


def _rendered(reports: tuple[Report, ...], form: str) -> str:
    match form:
        case "json":
            return msgspec.json.format(msgspec.json.encode(together(reports)), indent=1).decode() + "\n"
        case "junit":
            return to_junit(reports)
        case "html":
            return to_html(reports)
        case "markdown":
            return to_markdown(reports)
        case _:
            text = io.StringIO()
            show_reports(Console(file=text, width=PIPED_WIDTH, highlight=False, markup=False, emoji=False), reports)
            return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
