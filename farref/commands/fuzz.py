"""`farref fuzz`: the twin as a command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

import click

from farref.options.backends import DRIVEN, FREE, backend_option, find_backend
from farref.options.bounds import bounds_given, drawn_bounds_options
from farref.options.groups import (
    Command,
    GroupedCommand,
    format_option,
    junit_option,
    option,
    protocol_argument,
    quiet_option,
    with_options,
)
from farref.options.numbers import Seconds, WholeNumber
from farref.options.work import work_given, work_options
from farref.properties.limits import UNCUT, UNVIEWED
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import encode
from farref.properties.twin.backend import FreeBackend, MakeBackend
from farref.properties.twin.backends.known import FREE_BACKENDS
from farref.properties.twin.backends.rref.storm.backend import RRefStorm
from farref.properties.twin.backends.rref.storm.found import StormFound, encode_storm
from farref.properties.twin.campaign import campaign
from farref.properties.twin.loading import BackendError
from farref.properties.twin.shrink import not_shortened, shrink
from farref.properties.twin.tally import Tally
from farref.properties.twin.twin import Disagreement
from farref.rendering.fuzzed import Fuzzed, fuzz_document, show_fuzz
from farref.rendering.junit import junit
from farref.rendering.suites import fuzzed_suite
from farref.terminal.files import print_json, refuse_place, write
from farref.terminal.output import page, remark
from farref.terminal.progress import saying

SECONDS_DEFAULT: Final = 10.0
HOW: Final = "What is driven, and for how long"

FUZZ_OPTIONS: Final = [
    backend_option(HOW, [*DRIVEN, *FREE]),
    option(
        HOW, "--seconds", type=Seconds(), help="Stop after this many seconds, or later if too little happened. Default 10."
    ),
    option(HOW, "--schedules", type=WholeNumber(1), help="Stop after this many schedules."),
    option(HOW, "--seed", type=int, default=0, help="Seed of the schedules. Default 0."),
    *work_options(HOW),
    option(
        HOW, "--first", type=WholeNumber(0),
        help="Begin with the schedule of this number. Then not every fault need happen.",
    ),
]  # fmt: skip


def fuzz_options(command: Command) -> Command:
    """Add the flags of `farref fuzz`."""
    return with_options(drawn_bounds_options(command), FUZZ_OPTIONS)


@click.command(cls=GroupedCommand)
@protocol_argument
@fuzz_options
@click.option(
    "--save", type=click.Path(dir_okay=False), metavar="FILE", help="Write the run of a disagreement to a file."
)
@junit_option
@format_option("pretty", "json")
@quiet_option
def fuzz(**given: Any) -> int:
    """Drive the model and an implementation through the same random schedules, and compare them after every step.

    The bounds of the world are drawn for each schedule, and in autograd the program too, as a graph. A bound that is given
    is the same in every schedule. The same seed and number of schedules give the same steps, and the same trace_hash, on
    every backend, with any number of jobs and on a cluster.

    A storm has no model beside it. It draws what schedules of the model do not have, and judges it by the same properties,
    or by gradients. Of the bounds it takes the number of workers, and what may go wrong.

    \b
    farref fuzz rref --seconds 60
    farref fuzz rref --backend processes --seconds 60        the same between real processes
    farref fuzz rref --backend mine.py --save found.json     a backend of your own (spec/testing.md)
    farref replay found.json --backend mine.py               the run that it was found out with, again
    farref fuzz rref --backend "adapter:node mine.mjs"       an adapter with step verbs (spec/conformance.md)
    farref fuzz autograd --seconds 60                        backward passes over random programs
    farref fuzz autograd --workers 4 --pairs 9 --smart       larger ones, all in SMART
    farref fuzz autograd --backend storm --seconds 60        real processes, not held still: gradients and outcomes only
    farref fuzz rref --backend storm --seconds 60            what no model takes: several forks in a message, deaths, lives
    farref fuzz rref --exclusions 2 --workers 4 --joins 1    workers are excluded, go on, are buried and come back
    farref fuzz rref --exclusions 1 --lost-owners            the same with owners
    farref fuzz rref --seed 7 --schedules 1000 --jobs 2 --format json
    farref fuzz rref --seconds 600 --cluster tcp://HOST:8786 on a Dask cluster
    farref fuzz rref --seed 7 --first 123 --schedules 1      schedule 123 of seed 7 again
    """
    refuse_place(given["save"])
    refuse_place(given["junit"])
    fuzzed = carry_out_fuzz(given)
    if given["form"] == "json":
        print_json(fuzz_document(fuzzed))
    else:
        with page() as console:
            show_fuzz(console, fuzzed)
    if given["junit"] is not None:
        write(given["junit"], junit([fuzzed_suite(fuzzed)]).encode(), "JUnit report")
    if given["save"] is not None:
        _save_run(fuzzed, given["save"])
    return fuzzed.exit_code


def _save_run(fuzzed: Fuzzed, path: str) -> None:
    if isinstance(fuzzed.disagreement, StormFound):
        write(path, encode_storm(fuzzed.disagreement), "trace")
    elif fuzzed.trace is not None:
        write(path, encode(fuzzed.trace), "trace")
    else:
        remark(f"nothing disagreed, so {path} was not written")


def carry_out_fuzz(given: dict[str, Any]) -> Fuzzed:
    """Run a campaign as the flags say, and shorten what it finds."""
    work, make = work_given(given), _backend(given)
    fixed = _fixed(given, make)
    seconds = given["seconds"] or (None if given["schedules"] else SECONDS_DEFAULT)
    with saying(quiet=given["quiet"]) as say, complaining():
        tally = campaign(
            make,
            seed=given["seed"],
            seconds_max=seconds,
            schedules_max=given["schedules"],
            first=given["first"] or 0,
            fixed=fixed,
            **work,
            protocol=given["subject"],
            on_schedule=lambda tally: say(_progress(tally, given["schedules"], seconds)),
        )
    command = _command(given["backend"], tally, given["save"])
    return Fuzzed(given["backend"], tally, _shortened(tally, make), command, is_excerpt=given["first"] is not None)


@contextmanager
def complaining() -> Iterator[None]:
    """Tell what is wrong with a backend of one's own as wrong usage, in one line."""
    try:
        yield
    except BackendError as error:
        raise click.UsageError(str(error)) from error


def _backend(given: dict[str, Any]) -> MakeBackend:
    subject, name = given["subject"], given["backend"]
    if not hasattr(FREE_BACKENDS[subject].get(name, RRefStorm), "search") and given["save"] is not None:
        raise click.UsageError(f"--backend {name} has no steps to save; leave out --save")
    return find_backend(subject, name, free=True)


def _fixed(given: dict[str, Any], make: MakeBackend) -> dict[str, Any]:
    about = PROTOCOLS[given["subject"]]
    fixed = {**getattr(make, "fixed", {}), **bounds_given(given, about)}
    wrong = about.unfit(fixed)
    if fixed.get("exclusions") and not getattr(make, "excludes", False):
        wrong = f"{UNVIEWED}; leave out --exclusions"
    if fixed.get("cuts") and not getattr(make, "severs", False):
        wrong = f"{UNCUT}; leave out --cuts"
    if wrong is not None:
        raise click.UsageError(wrong)
    return fixed


def _progress(tally: Tally, schedules: int | None, seconds: float | None) -> str:
    """Tell how far a campaign is, how fast, and how long it may still take."""
    rate = tally.schedules / tally.seconds if tally.seconds else 0.0
    ends = [(schedules - tally.schedules) / rate] if schedules is not None and rate else []
    ends += [seconds - tally.seconds] if seconds is not None else []
    left = f", about {max(0.0, min(ends)):.0f} s left" if ends else ""
    hands = f" on {tally.workers} workers" if tally.workers > 1 else ""
    return f"{tally.schedules:,} schedules, {tally.steps:,} steps, {rate:,.0f} schedules/s{hands}{left}"


def _shortened(tally: Tally, make: MakeBackend) -> Disagreement | None:
    """Make what was found shorter. Whatever happens on the way, it is not lost."""
    found = tally.disagreement
    if found is None or tally.schedule is None or not found.actions:
        return found
    try:
        with closing(make()) as backend:
            if not isinstance(backend, FreeBackend):
                backend.restless = tally.schedule.restless
            found = shrink(found, backend)
    except (Exception, KeyboardInterrupt) as error:
        return not_shortened(found, error)
    return found


def _command(backend: str, tally: Tally, saved: str | None) -> str:
    if saved is not None:
        return shlex.join(["farref", "replay", saved, *_on(tally, backend)])
    number = 0 if tally.schedule is None else tally.schedule.number
    words = ["farref", "fuzz", tally.protocol.name, "--backend", backend, "--seed", str(tally.seed)]
    return shlex.join([*words, "--first", str(number), "--schedules", "1", *_flags(tally.fixed)])


def _on(tally: Tally, backend: str) -> list[str]:
    """Name the backend that takes a saved run; a run of a storm can be taken by the storm only."""
    return [] if backend in FREE_BACKENDS[tally.protocol.name] else ["--backend", backend]


def _flags(fixed: dict[str, Any]) -> list[str]:
    """Write the bounds that are fixed as flags, and no others: those are drawn."""
    words: list[str] = []
    for name, value in fixed.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", str(value)]
    return words
