"""`farref conform`: judge a backend, clause by clause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from farref.judging.plan import Asked, Judged, all_checks, judge_all, make_plan
from farref.judging.publish import FORMATS, form_of, publish
from farref.judging.shared import judge_shared
from farref.judging.skeleton import write_skeleton
from farref.judging.validate import validate_adapters
from farref.options.numbers import Seconds, WholeNumber
from farref.options.work import cluster_option
from farref.properties.conformance.kit.available import availability
from farref.properties.conformance.kit.document import DocumentError, Report, decode, merged
from farref.properties.conformance.kit.expectations import ExpectationsError
from farref.properties.conformance.kit.named import NAMED, Target, UnknownBackendError, spoken, target
from farref.properties.conformance.kit.runner import Plan
from farref.properties.conformance.kit.suite import UnknownCheckError
from farref.rendering.conformance.conclusion import EXIT_CODES, Conclusion, conclusion
from farref.rendering.conformance.listing import list_document, show_backends, show_list
from farref.terminal.files import print_json, read, refuse_place
from farref.terminal.interrupts import held_back
from farref.terminal.output import page, remark

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
    click.option(
        "--badge", type=_FILE, metavar="FILE", help="Write a badge for the README of the backend too, as SVG."
    ),
    click.option("--seed", type=int, help="Seed of everything that is random. Default 0."),
    click.option("--seconds", type=Seconds(), help="Begin no new check after this many seconds."),
    click.option(
        "--start-seconds", type=Seconds(), help="Give the backend so long to start. Default 60."
    ),
    click.option(
        "--schedules", type=WholeNumber(1), help="Number of schedules in which single steps are driven. Default 100."
    ),
    click.option(
        "--jobs", type=WholeNumber(1), metavar="N",
        help="Run N checks at once, with an adapter for each, if the backend declares `several`. Default 1.",
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
    cluster_option,
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
    farref conform --only R33.lockstep --schedules 1000 -- node examples/javascript/held.mjs
    farref conform --backend torch --backend ray --cluster tcp://HOST:8786   a matrix on a Dask cluster
    farref conform --from report.json --format markdown    show a saved report
    farref conform --merge *.json -o matrix.html           put reports of several machines together
    farref conform --from report.json --badge conforms.svg
    farref conform --validate-adapter --backend my_adapter.py
    farref conform --list                                  the checks, and what they need
    farref conform --list-backends                         what can be judged here by name
    farref conform --init my_adapter                       begin an adapter

    Exit codes: 0 conforms, 1 a clause is broken or an expected failure did not happen, 2 wrong usage, 3 the adapter or the
    kit failed, 4 some checks were not run, because the time was over or somebody pressed Ctrl-C. The report then has what
    was found until that moment.
    """
    command = ctx.meta.get(COMMAND)
    form = form_of(given["form"], given["output"])
    if given["skeleton"] is not None:
        return write_skeleton(given["skeleton"])
    if given["listed"] or given["backends_listed"]:
        return _list(form, backends=given["backends_listed"])
    targets = _targets(given["backends"], command)
    if given["validated"]:
        return validate_adapters(targets, given["start_seconds"] or Asked.start_seconds)
    _refuse(given, targets)
    for place in (given["output"], given["badge"]):
        refuse_place(place)
    saved = tuple(report for path in given["saved"] for report in _read(path))
    saved += merged(tuple(report for path in given["merge"] for report in _read(path)))
    if given["badge"] is not None and len(targets) + len(saved) != 1:
        raise click.UsageError("a badge is of one backend: give one --backend, or --from FILE with one report")
    judged = _judged(targets, given)
    for complaint in judged.complaints:
        remark(complaint)
    reports = (*saved, *judged.reports)
    if reports:
        with held_back():
            publish(reports, form, given["output"], given["badge"])
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


def _refuse(given: dict[str, Any], targets: Sequence[Target]) -> None:
    """Refuse what would not be heeded, and nothing at all."""
    if not targets and not given["saved"] and not given["merge"]:
        raise click.UsageError(
            f"there is nothing to judge; give --backend ({', '.join(NAMED)}, a file.py, a module:attribute), "
            "a command after --, or --from FILE"
        )
    for option in ("only", "expectations", "seed", "seconds", "start_seconds", "runs", "schedules", "jobs", "cluster"):
        if not targets and given[option]:
            raise click.UsageError(
                f"--{option.replace('_', '-')} is for a run; --from only shows what was found before"
            )


def _judged(targets: Sequence[Target], given: dict[str, Any]) -> Judged:
    asked = _asked(given)
    plans = _plans(targets, asked)
    if given["cluster"] is not None:
        return judge_shared(targets, plans, asked, given["cluster"], quiet=given["quiet"])
    return judge_all(targets, plans, quiet=given["quiet"])


def _asked(given: dict[str, Any]) -> Asked:
    return Asked(
        only=given["only"],
        expectations=given["expectations"],
        seed=given["seed"] or 0,
        seconds=given["seconds"],
        runs=given["runs"] or Asked.runs,
        start_seconds=given["start_seconds"] or Asked.start_seconds,
        schedules=given["schedules"] or Asked.schedules,
        jobs=given["jobs"] or Asked.jobs,
    )


def _plans(targets: Sequence[Target], asked: Asked) -> list[Plan]:
    try:
        return [make_plan(one, asked) for one in targets]
    except (ExpectationsError, UnknownCheckError) as error:
        raise click.UsageError(str(error)) from error


def _read(path: str) -> tuple[Report, ...]:
    try:
        return decode(read(path))
    except DocumentError as error:
        raise click.UsageError(f"{path}: {error}") from error
