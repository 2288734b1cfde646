"""`farref fuzz` and `farref replay`: the twin as commands, and how what they find is told."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final, TypeVar

import click
import msgspec
from rich.console import Console
from rich.text import Text

from farref.model.world import Bounds
from farref.options import WholeNumber
from farref.pretty import numbered
from farref.progress import saying
from farref.properties.backends.backend import Backend
from farref.properties.backends.known import BACKENDS
from farref.properties.campaign import FAULTS, Tally, campaign
from farref.properties.limits import complaint
from farref.properties.replays import sound_beginning
from farref.properties.shrink import shrink
from farref.properties.trace import SUBJECT, Trace, actions_of, record_run
from farref.properties.twin import Disagreement, Twin

SECONDS_DEFAULT: Final = 10.0
Command = TypeVar("Command", bound=Callable[..., Any])


class Agreement(Enum):
    """What a comparison came to."""

    AGREED = "agreed"
    DISAGREED = "disagreed"
    INCOMPLETE = "incomplete"


EXIT_CODES: Final = {Agreement.AGREED: 0, Agreement.DISAGREED: 1, Agreement.INCOMPLETE: 4}


def fuzz_options(command: Command) -> Command:
    """Add the flags that say what is driven, and for how long."""
    options: list[Callable[[Any], Any]] = [
        click.option("--backend", type=click.Choice(list(BACKENDS)), default="simulated", help="Who is driven."),
        click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Stop after so many. Default 10."),
        click.option("--schedules", type=WholeNumber(1), help="Stop after so many schedules."),
        click.option("--seed", type=int, default=0, help="Seed of the schedules. Default 0."),
        click.option("--first", type=WholeNumber(0), default=0, help="Number of the first schedule. Default 0."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


# -- fuzz --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fuzzed:
    """A campaign, and its disagreement as short as it could be made."""

    backend: str
    tally: Tally
    disagreement: Disagreement | None
    command: str  # which takes the disagreeing schedule again

    @property
    def verdict(self) -> Agreement:
        """Agreed only if every fault that was allowed also happened: otherwise nothing was shown."""
        if self.disagreement is not None:
            return Agreement.DISAGREED
        tally = self.tally
        shown = tally.schedules and not tally.never_fired and not tally.interrupted
        return Agreement.AGREED if shown else Agreement.INCOMPLETE

    @property
    def exit_code(self) -> int:
        """What the process ends with."""
        return EXIT_CODES[self.verdict]

    @property
    def trace(self) -> Trace | None:
        """The run of the disagreement, for a file."""
        found = self.disagreement
        return None if found is None else record_run(found.bounds, found.actions)

    @property
    def notes(self) -> list[str]:
        """Why a campaign without a disagreement shows nothing."""
        never = self.tally.never_fired
        notes = [f"allowed, and never happened: {', '.join(never)}; run more schedules"] if never else []
        return [*notes, "interrupted"] if self.tally.interrupted else notes


def carry_out_fuzz(given: dict[str, Any]) -> Fuzzed:
    """Run a campaign as the flags say, and shorten what it finds."""
    make, fixed = BACKENDS[given["backend"]], _fixed(given)
    seconds = given["seconds"] or (None if given["schedules"] else SECONDS_DEFAULT)
    with saying(quiet=given["quiet"]) as say:
        tally = campaign(
            make,
            seed=given["seed"],
            seconds_max=seconds,
            schedules_max=given["schedules"],
            first=given["first"],
            fixed=fixed,
            on_schedule=lambda tally: say(_progress(tally)),
        )
    return Fuzzed(given["backend"], tally, _shortened(tally, make), _command(given["backend"], tally, given["save"]))


def _fixed(given: dict[str, Any]) -> dict[str, Any]:
    fixed = {bound.name: given[bound.name] for bound in fields(Bounds) if given[bound.name] is not None}
    wrong = complaint(Bounds(**{"rrefs": 1, "forks": 1, **fixed}))
    if wrong is not None:
        raise click.UsageError(wrong)
    return fixed


def _progress(tally: Tally) -> str:
    rate = tally.schedules / tally.seconds if tally.seconds else 0.0
    return f"{tally.schedules:,} schedules, {tally.steps:,} steps, {rate:,.0f} schedules/s"


def _shortened(tally: Tally, make: Callable[[bool], Backend]) -> Disagreement | None:
    if tally.disagreement is None or tally.schedule is None:
        return None
    backend = make(tally.schedule.restless)
    try:
        return shrink(tally.disagreement, backend)
    finally:
        backend.close()


def _command(backend: str, tally: Tally, saved: str | None) -> str:
    if saved is not None:
        return shlex.join(["farref", "replay", saved, "--backend", backend])
    number = 0 if tally.schedule is None else tally.schedule.number
    words = ["farref", "fuzz", SUBJECT, "--backend", backend, "--seed", str(tally.seed), "--first", str(number)]
    return shlex.join([*words, "--schedules", "1", *_flags(tally.fixed)])


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


def fuzz_document(fuzzed: Fuzzed) -> dict[str, Any]:
    """Give the findings of a campaign as they are printed for machines."""
    tally, found = fuzzed.tally, fuzzed.disagreement
    return {
        "subject": SUBJECT,
        "backend": fuzzed.backend,
        "seed": tally.seed,
        "schedules": tally.schedules,
        "steps": tally.steps,
        "disagreements": int(found is not None),
        "faults": {fault: tally.faults[fault] for fault in FAULTS},
        "sometimes": tally.sometimes,
        "seconds": round(tally.seconds, 3),
        "trace_hash": tally.trace_hash,
        "verdict": fuzzed.verdict.value,
        "notes": fuzzed.notes,
        "disagreement": None
        if found is None
        else {"story": found.story, "difference": list(found.lines), "replay": fuzzed.command},
    }


def show_fuzz(page: Console, fuzzed: Fuzzed) -> None:
    """Print the findings of a campaign for people."""
    tally, reached = fuzzed.tally, fuzzed.tally.sometimes
    page.print(f"{SUBJECT}: the model and the {fuzzed.backend} backend in lockstep, seed {tally.seed}", style="bold")
    rate = tally.schedules / tally.seconds if tally.seconds else 0.0
    counts = f"{tally.schedules:,} schedules, {tally.steps:,} steps, each compared"
    page.print(f"{counts}, in {tally.seconds:.1f} s ({rate:,.0f} schedules/s)")
    page.print(f"faults: {', '.join(f'{tally.faults[fault]:,} {fault}' for fault in FAULTS)}")
    missing = ", ".join(name for name, was in reached.items() if not was)
    page.print(f"situations: {sum(reached.values())} of {len(reached)}{'; not: ' if missing else ''}{missing}")
    page.print(f"trace hash: {tally.trace_hash}")
    if fuzzed.disagreement is not None:
        show_disagreement(page, fuzzed.disagreement)
        page.print(Text.assemble(("See it again: ", "bold"), fuzzed.command), soft_wrap=True)
    for note in fuzzed.notes:
        page.print(f"note: {note}", style="yellow")
    page.print(_conclusion(fuzzed.verdict))


def show_disagreement(page: Console, found: Disagreement) -> None:
    """Print a disagreement as a numbered story, with the difference of the two observations."""
    page.print()
    page.print(f"Model and {found.backend} backend disagree after {len(found.actions)} steps", style="bold red")
    page.print(numbered(found.story))
    page.print("What only one of them has:", style="bold")
    for line in found.lines:
        page.print(f"  {line}", soft_wrap=True)


def _conclusion(verdict: Agreement) -> Text:
    match verdict:
        case Agreement.AGREED:
            return Text("AGREED: after every step, and all tables empty at the end.", "bold green")
        case Agreement.DISAGREED:
            return Text("DISAGREED", "bold red")
        case Agreement.INCOMPLETE:
            return Text(
                "INCOMPLETE: no disagreement, and not enough happened for that to mean something.", "bold yellow"
            )


# -- replay ------------------------------------------------------------------------------------------------------------


class Replayed(msgspec.Struct, frozen=True):
    """A saved run, taken again."""

    backend: str
    steps: int
    taken: int  # how many of them can happen in the sound protocol
    verdict: Agreement
    story: list[str] = []
    difference: list[str] = []

    @property
    def exit_code(self) -> int:
        """What the process ends with."""
        return EXIT_CODES[self.verdict]


def replay_on(trace: Trace, name: str) -> Replayed:
    """Let a backend take a run, once as it is and once restlessly."""
    actions = sound_beginning(trace.bounds, actions_of(trace))
    steps, taken = len(trace.steps), len(actions)
    for restless in (False, True):
        backend = BACKENDS[name](restless)
        try:
            Twin(trace.bounds, backend).take(actions)
        except Disagreement as found:
            return Replayed(name, steps, taken, Agreement.DISAGREED, found.story, list(found.lines))
        finally:
            backend.close()
    return Replayed(name, steps, taken, Agreement.AGREED if taken else Agreement.INCOMPLETE)


def show_replay(page: Console, replayed: Replayed) -> None:
    """Print how a saved run went."""
    page.print(f"{replayed.taken} of {replayed.steps} steps can happen in the sound protocol")
    if replayed.story:
        page.print(numbered(replayed.story))
    for line in replayed.difference:
        page.print(f"  {line}", soft_wrap=True)
    page.print(f"{replayed.verdict.value.upper()}: model and {replayed.backend} backend", style="bold")
