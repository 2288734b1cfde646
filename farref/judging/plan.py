"""Carry out `farref conform`: from what the user gave to reports."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from farref.clauses import clauses
from farref.properties.conformance.conversation.session import AdapterError
from farref.properties.conformance.conversation.trial import START_SECONDS
from farref.properties.conformance.findings.catalogue import read_findings, read_others, script_of
from farref.properties.conformance.kit import expectations
from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.document import Level, Report, Row, Script, Verdict
from farref.properties.conformance.kit.expectations import Expectation
from farref.properties.conformance.kit.named import Target
from farref.properties.conformance.kit.runner import Interrupted, Plan, Runner
from farref.properties.conformance.kit.script import python_script, spoken_script
from farref.properties.conformance.kit.suite import chosen, suite
from farref.properties.conformance.kit.telling import shortened
from farref.properties.conformance.kit.unseen import UNSEEN
from farref.properties.conformance.kit.verbs import SCHEDULES
from farref.properties.conformance.kit.verdicts import ClauseText
from farref.rendering.conformance.conclusion import TOLD, rate
from farref.rendering.conformance.console import marked
from farref.words import how_to_install, visible


@dataclass(frozen=True)
class Asked:
    """What is asked of every backend."""

    only: tuple[str, ...] = ()
    expectations: str | None = None
    """A file, `none`, or nothing for those that ship with the backend."""
    seed: int = 0
    seconds: float | None = None
    runs: int = 3
    start_seconds: float = START_SECONDS
    schedules: int = SCHEDULES
    jobs: int = 1


def clause_texts() -> dict[str, ClauseText]:
    """Give all clauses, as far as a report shows them."""
    return {
        one.id: ClauseText(one.id, one.title, one.text, Level.MUST, UNSEEN.get(one.id, ""))
        for one in clauses().values()
    }


def all_checks() -> tuple[Check, ...]:
    """Give all checks in the order of the clauses."""
    return suite(list(clauses()))


def make_plan(target: Target, asked: Asked) -> Plan:
    """Say what is to be done with one backend."""
    path = _expectations_file(target, asked.expectations)
    everything = all_checks()
    known: Mapping[str, Expectation] = {}
    if path is not None:
        known = expectations.read(path, [one.id for one in everything])
    checks = chosen(everything, asked.only)
    texts, wanted = clause_texts(), {one.clause for one in checks}
    return Plan(
        command=target.command,
        replay=lambda check: replay_command(target, asked, check),
        clauses={name: texts[name] for name in texts if not asked.only or name in wanted},
        checks=checks,
        expectations=known,
        seed=asked.seed,
        seconds=asked.seconds,
        runs=asked.runs,
        start_seconds=asked.start_seconds,
        schedules=asked.schedules,
        jobs=asked.jobs,
        scripts=lambda check, row: scripts_of(target, check, row),
        expectations_file=None if path is None else path.name if path == target.expectations else str(path),
    )


def scripts_of(target: Target, check: Check, row: Row) -> tuple[Script, ...]:
    """Give the programs that show a failure without the kit: one that drives the adapter, and what is known by itself."""
    if row.verdict not in TOLD:
        return ()
    backend, options = " ".join(target.words), dict(check.options)
    known = finding_scripts(row) if target.extra == "torch" else other_scripts(row)
    if target.place is None:
        return (*known, spoken_script(target.command, check.workers, options, row, backend))
    return (*known, python_script(target.place, check.workers, options, row, backend))


def finding_scripts(row: Row) -> tuple[Script, ...]:
    """Give the stand-alone programs of what was found in PyTorch: what the expectation names, or else all about the clause."""
    shown = [one for one in read_findings() if one.script is not None]
    named = [one for one in shown if re.search(rf"#{one.id}-", row.link or "", re.IGNORECASE)]
    about = named or [one for one in shown if one.clause == row.clause]
    return tuple(Script(script_of(one).name, script_of(one).read_text("utf-8")) for one in about)


def other_scripts(row: Row) -> tuple[Script, ...]:
    """Give the stand-alone programs of what was found in other systems, as the link of an expectation names them."""
    link = row.link or "nothing"
    named = [one for one in read_others() if f"#{one.id.lower()}-" in link or one.by_design == link]
    return tuple(Script(script_of(one).name, script_of(one).read_text("utf-8")) for one in named)


def _expectations_file(target: Target, given: str | None) -> Path | None:
    match given:
        case None:
            return target.expectations
        case "none":
            return None
        case _:
            return Path(given)


def replay_command(target: Target, asked: Asked, check: str) -> str:
    """Give the command that runs one check again."""
    options = ["--only", check, "--seed", str(asked.seed)]
    if asked.expectations is not None:
        options += ["--expectations", asked.expectations]
    if asked.runs != Asked.runs:
        options += ["--runs", str(asked.runs)]
    if asked.start_seconds != Asked.start_seconds:
        options += ["--start-seconds", f"{asked.start_seconds:g}"]
    if asked.schedules != Asked.schedules:
        options += ["--schedules", str(asked.schedules)]
    is_spoken = target.words[0] == "--"
    words = [*options, *target.words] if is_spoken else [*target.words, *options]
    return shlex.join(["farref", "conform", *words])


def judge(plan: Plan, *, quiet: bool) -> Report:
    """Run the checks of a plan, telling of each verdict as it comes."""
    with _telling(len(plan.checks), quiet=quiet) as tell:
        return Runner(plan, on_row=tell).run()


@contextmanager
def _telling(checks: int, *, quiet: bool) -> Iterator[Callable[[Row], None]]:
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        page = Console(stderr=True, highlight=False, markup=False, emoji=False)
        with page.status("starting the backend") as status:
            yield Teller(checks, page, status.update)
    else:
        yield Teller(
            checks, Console(stderr=True, highlight=False, markup=False, emoji=False, width=200), lambda _: None
        )


class Teller:
    """Prints a line for each verdict, and guesses the rest of the time from the time so far."""

    def __init__(self, checks: int, page: Console, update: Callable[[str], None]) -> None:
        self._checks, self._page, self._update = checks, page, update
        self._begun, self._done = time.monotonic(), 0

    def __call__(self, row: Row) -> None:
        """Tell of one verdict."""
        if row.replay is None:  # no check looks at the clause
            return
        self._done += 1
        if row.verdict is not Verdict.SKIPPED:  # those may be many, and the report counts them
            with suppress(OSError):  # whether anybody listens is no matter of the run
                self._page.print(_verdict_line(row), soft_wrap=True)
        left = (time.monotonic() - self._begun) / self._done * (self._checks - self._done)
        self._update(f"{self._done} of {self._checks} checks, about {left:.0f} s left")


def _verdict_line(row: Row) -> Text:
    said = f": {visible(' '.join(row.message.split()))}" if row.message else ""
    return Text.assemble(marked(row.verdict), f" {row.id}{rate(row)} {row.seconds:.1f} s{said}")


@dataclass
class Judged:
    """What came of judging some backends."""

    reports: list[Report] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    """A line for each adapter that cannot be used at all."""
    is_interrupted: bool = False


def judge_all(targets: Sequence[Target], plans: Sequence[Plan], *, quiet: bool) -> Judged:
    """Judge one backend after another, until all are judged or somebody presses Ctrl-C."""
    judged = Judged()
    for target, plan in zip(targets, plans, strict=True):
        try:
            judged.reports.append(judge(plan, quiet=quiet))
        except AdapterError as error:
            judged.complaints.append(complaint(target, error))
        except Interrupted as cut:
            judged.reports.append(cut.report)
            judged.is_interrupted = True
            break
        except KeyboardInterrupt:  # before anything was found of this one; what was found of others is not lost
            judged.is_interrupted = True
            break
    return judged


def complaint(target: Target, error: AdapterError) -> str:
    """Say in one line why an adapter cannot be used."""
    said = " ".join(f"{' '.join(target.words)}: {shortened(str(error))}".split())
    is_missing = target.extra is not None and re.search("No module named|No package metadata", said)
    return f"{said}; {how_to_install(target.extra or '')}" if is_missing else said
