"""`farref replay`: a saved run, taken once more by the model and by an implementation; or the log of one, judged."""

from __future__ import annotations

from contextlib import closing

import click
import msgspec
from rich.console import Console

from farref.model.checker.interface import Action
from farref.options.backends import DRIVEN, backend_option, find_backend
from farref.options.groups import OUTPUT, format_option
from farref.properties.limits import UNCUT, UNVIEWED
from farref.properties.protocols import sound_model
from farref.properties.traces.file import DisagreementRecord, Trace, actions_of
from farref.properties.traces.replay import beginning
from farref.properties.twin.backend import FreeBackend
from farref.properties.twin.backends.rref.storm.backend import RRefStorm
from farref.properties.twin.backends.rref.storm.found import StormFile, decode_storm, take_again
from farref.properties.twin.loading import BackendError
from farref.properties.twin.twin import Disagreement, Twin
from farref.rendering.agreement import EXIT_CODES, Agreement, show_differed, violations
from farref.rendering.layout import numbered
from farref.rendering.validated import Validated, show_validated, validated_document
from farref.terminal.files import print_json, read
from farref.terminal.output import page
from farref.terminal.traces import read_trace


@click.command()
@click.argument("trace", type=click.Path(), nargs=-1, required=True)
@backend_option(OUTPUT, DRIVEN)
@click.option("--validate", is_flag=True, help="TRACE is the logs of a real run: say whether the model allows it.")
@format_option("pretty", "json")
def replay(trace: tuple[str, ...], backend: str, validate: bool, form: str) -> int:
    """Let the model and an implementation take a saved run, and compare them after every step.

    A counterexample is taken by the sound protocol, as far as its steps can happen there. If all of them can, they lead to
    another state than under PyTorch's rules.

    With --validate the files are logs that real workers wrote (spec/log.md), and a folder stands for all logs in it. The
    answer names the first event that no behaviour of the model explains.

    \b
    farref fuzz rref --save run.json
    farref replay run.json --backend processes
    farref replay run.json --backend mine.py               a backend of your own (spec/testing.md)
    farref check autograd --profile torch --claim D5 --save d5.json && farref replay d5.json
    farref fuzz rref --backend storm --save storm.json && farref replay storm.json
    farref replay --validate logs/
    """
    if validate:
        return _validate(trace, form)
    if len(trace) != 1:
        raise click.UsageError("one trace at a time; several files are for --validate")
    storm = decode_storm(read(trace[0]))
    replayed = replay_on(read_trace(trace[0]), backend) if storm is None else replay_storm(storm)
    if form == "json":
        print_json(replayed)
    else:
        with page() as console:
            show_replay(console, replayed)
    return replayed.exit_code


def _validate(paths: tuple[str, ...], form: str) -> int:
    validated = Validated(paths)
    if form == "json":
        print_json(validated_document(validated))
    else:
        with page() as console:
            show_validated(console, validated)
    return validated.exit_code


class Replayed(msgspec.Struct, frozen=True):
    """A saved run, taken again."""

    backend: str
    steps: int
    taken: int  # how many of them can happen in the sound protocol
    verdict: Agreement
    story: list[str] = []
    difference: list[str] = []
    violated: list[dict[str, str]] = []
    differed: DisagreementRecord | None = None  # what the file says of the time when it was saved

    @property
    def exit_code(self) -> int:
        """What the process ends with."""
        return EXIT_CODES[self.verdict]


def replay_on(trace: Trace, name: str) -> Replayed:
    """Let a backend take a run, once as it is and once restlessly."""
    make = find_backend(trace.subject, name)
    for bound, able, why in (("cuts", "severs", UNCUT), ("exclusions", "excludes", UNVIEWED)):
        if getattr(trace.bounds, bound, 0) and not getattr(make, able, False):
            raise click.UsageError(f"{why}: this run can be told (farref explain), and not replayed")
    actions = beginning(sound_model(trace.bounds), actions_of(trace))
    replayed = Replayed(name, len(trace.steps), len(actions), Agreement.INCOMPLETE, differed=trace.disagreement)
    try:
        with closing(find_backend(trace.subject, name)()) as backend:
            assert not isinstance(backend, FreeBackend), "only what is driven has steps"
            for backend.restless in (False, True):
                _take(Twin(trace.bounds, backend), actions)
    except Disagreement as found:
        told = {"story": found.story, "difference": list(found.lines), "violated": violations(found)}
        return msgspec.structs.replace(replayed, verdict=Agreement.DISAGREED, **told)
    except BackendError as error:
        raise click.UsageError(str(error)) from error
    return msgspec.structs.replace(replayed, verdict=Agreement.AGREED) if actions else replayed


def _take(twin: Twin, actions: tuple[Action, ...]) -> None:
    """Take a run, and if nothing more can happen, see that nothing is left."""
    twin.take(actions)
    twin.check_if_over()


def replay_storm(saved: StormFile) -> Replayed:
    """Take a run of a storm again."""
    found, taken = take_again(saved.bounds, saved.moves)
    name, steps = RRefStorm.name, len(saved.moves)
    if found is None:
        return Replayed(name, steps, taken, Agreement.AGREED)
    return Replayed(name, steps, taken, Agreement.DISAGREED, found.story, list(found.lines), violations(found))


def show_replay(page: Console, replayed: Replayed) -> None:
    """Print how a saved run went."""
    is_storm = replayed.backend == RRefStorm.name
    page.print(
        f"{replayed.taken} of {replayed.steps} steps can happen" + ("" if is_storm else " in the sound protocol")
    )
    if replayed.story:
        page.print(numbered(replayed.story))
    for line in replayed.difference:
        page.print(f"  {line}", soft_wrap=True)
    if replayed.differed is not None and list(replayed.differed.difference) != replayed.difference:
        show_differed(page, replayed.differed)
    who = "storm backend" if is_storm else f"model and {replayed.backend} backend"
    page.print(f"{replayed.verdict.value.upper()}: {who}", style="bold")
