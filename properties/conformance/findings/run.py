"""Run the programs that show defects, several times each, and say whether they behave as recorded.

`make findings` does that with the PyTorch of the `[torch]` extra, and with `--others` for other systems that are installed. A
program is a process of its own with a limit; whatever it leaves behind ends with it. Its exit code and its last line must say
the same, otherwise the run counts as failed.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

import click
import msgspec

from farref.properties.conformance.findings.catalogue import (
    Figure,
    Figures,
    Finding,
    is_as_recorded,
    read_figures,
    read_findings,
    read_others,
    script_of,
)
from farref.properties.conformance.kit.available import availability

LIMIT_SECONDS: Final = 120
"""More than any program takes on a busy machine: each ends its own experiment after 40 s, and has PyTorch to import first."""


INTERPRETERS: Final = {".mjs": ("node",), ".java": ("java",)}
BACKENDS: Final = {"Ray": "ray", "Java RMI": "java-rmi", "multiprocessing.managers": "managers"}
"""What a system is called as a backend, where that is something else."""


class Reproduction(Enum):
    """What one run of a program came to."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    FAILED = "failed"


class ProgramRun(NamedTuple):
    """One run: its outcome, how long it took, and its last line."""

    outcome: Reproduction
    seconds: float
    last: str


def run_once(script: Path, limit: float = LIMIT_SECONDS) -> ProgramRun:
    """Run a program once, and end all that it started."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [*INTERPRETERS.get(script.suffix, (sys.executable,)), str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
    last = printed.strip().rpartition("\n")[2]
    return ProgramRun(judge(process.returncode, last), time.monotonic() - begun, last)


def judge(exit_code: int, last: str) -> Reproduction:
    """Believe a program whose exit code and last line say the same."""
    match exit_code, last.partition(": ")[0]:
        case 1, "REPRODUCED":
            return Reproduction.REPRODUCED
        case 0, "NOT REPRODUCED":
            return Reproduction.NOT_REPRODUCED
        case _:
            return Reproduction.FAILED


def add_up(finding: Finding, runs: Sequence[ProgramRun]) -> Figure:
    """Put the runs of one program together."""
    outcomes = [run.outcome for run in runs]
    return Figure(
        finding.id,
        len(runs),
        outcomes.count(Reproduction.REPRODUCED),
        outcomes.count(Reproduction.FAILED),
        round(statistics.median(run.seconds for run in runs), 1),
        runs[-1].last,
    )


def run_all(findings: Sequence[Finding], times: int, jobs: int) -> list[Figure]:
    """Run each program several times, so many at once, and report each run as it ends."""

    def run(finding: Finding) -> ProgramRun:
        done = run_once(script_of(finding))
        click.echo(f"{finding.id}: {done.seconds:.1f} s, {done.last or 'nothing was said'}", err=True)
        return done

    with ThreadPoolExecutor(jobs) as pool:
        begun = {finding: [pool.submit(run, finding) for _ in range(times)] for finding in findings}
        return [add_up(finding, [run.result() for run in runs]) for finding, runs in begun.items()]


def as_markdown(findings: Sequence[Finding], figures: Figures) -> str:
    """Write the figures as a table."""
    rows = ["| finding | title | reproduced | failed | seconds | recorded | |", "|---|---|---:|---:|---:|---|---|"]
    for finding in findings:
        if figure := figures.of(finding):
            rate, verdict = (
                f"{figure.reproduced} of {figure.runs}",
                "" if is_as_recorded(finding, figure) else "DIFFERS",
            )
            cells = (finding.id, finding.title, rate, figure.failed, figure.seconds, finding.recorded.value, verdict)
            rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def save(path: Path, figures: Figures) -> None:
    """Keep the figures, with those of programs that were not run this time."""
    kept = {figure.id: figure for figure in read_figures(path).findings} if path.exists() else {}
    kept |= {figure.id: figure for figure in figures.findings}
    order = [finding.id for finding in (*read_findings(), *read_others()) if finding.id in kept]
    versions = {**read_figures(path).versions, **figures.versions} if path.exists() else figures.versions
    merged = Figures(figures.torch, tuple(kept[name] for name in order), versions)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(merged), indent=1) + b"\n")


def chosen(only: Sequence[str], *, others: bool = False) -> list[Finding]:
    """Choose findings that have a program, by their ids; of other systems those that are installed."""
    known = installed_others() if others else read_findings()
    there = {finding.id: finding for finding in known if finding.script is not None}
    if unknown := [name for name in only if name not in there]:
        raise click.UsageError(f"no program shows {', '.join(unknown)}; there are {', '.join(there)}")
    return [finding for name, finding in there.items() if not only or name in only]


def installed_others() -> list[Finding]:
    """List what was found in systems that can be run here, and say which cannot."""
    missing = {one.backend: one.missing for one in availability() if one.missing}
    for finding in read_others():
        if lacks := missing.get(BACKENDS.get(finding.system, finding.system)):
            click.echo(f"{finding.id} is not run: {lacks} is missing", err=True)
    return [one for one in read_others() if BACKENDS.get(one.system, one.system) not in missing]


def other_versions() -> dict[str, str]:
    """Say which versions of other systems are installed."""
    found = {one.backend: one.version for one in availability() if not one.missing}
    systems = {one.system: BACKENDS.get(one.system, one.system) for one in read_others()}
    return {system: found[name] or "" for system, name in systems.items() if name in found}


def torch_version() -> str:
    """Say which PyTorch is installed."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        raise click.UsageError("PyTorch is not installed; in a checkout of farref: pip install '.[torch]'") from None


@click.command()
@click.option(
    "--only", multiple=True, metavar="ID", help="Run this finding's program only; may be given several times."
)
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True, help="Run each program so often.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Run so many at once.")
@click.option("--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
@click.option("--others", is_flag=True, help="Run the programs of other systems, of those that are installed.")
@click.option("--save", "path", type=click.Path(dir_okay=False, path_type=Path), help="Keep the figures in this file.")
def main(only: tuple[str, ...], runs: int, jobs: int, form: str, others: bool, path: Path | None) -> None:
    """Run the programs that show defects; end with 1 if one does not behave as recorded."""
    findings = chosen(only, others=others)
    torch, versions = ("", other_versions()) if others else (torch_version(), {})
    figures = Figures(torch, tuple(run_all(findings, runs, jobs)), versions)
    if form == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(figures), indent=1).decode())
    else:
        click.echo(as_markdown(findings, figures))
    if path is not None:
        save(path, figures)
    differing = [
        figure.id
        for finding, figure in zip(findings, figures.findings, strict=True)
        if not is_as_recorded(finding, figure)
    ]
    if differing:
        click.echo(f"not as recorded: {', '.join(differing)}", err=True)
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
