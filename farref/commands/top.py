"""`farref top`: the workers of a world that runs, who of them is stuck, and why."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from farref.options.groups import format_option
from farref.rendering.layout import plain_table
from farref.terminal.exits import OK
from farref.terminal.output import page, put
from farref.terminal.worlds import Seen, find_worlds, look

STYLES = {"ok": "green", "waiting": "yellow", "stuck": "bold red", "gone": "dim"}
LINKS = ("queued_bytes", "received_bytes", "calls", "fetches", "serving", "references_held", "references_given")
VIEWS, KEPT = ("view", "settled", "buried", "heirs"), ("forks", "children")
TITLES = ("queued", "received", "calls", "fetches", "serving", "held", "given")


@click.command()
@click.argument("world", required=False)
@click.option("--once", is_flag=True, help="Look once, and end.")
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=1.0, show_default=True, help="Look again after so many seconds."
)
@format_option("pretty", "json")
def top(world: str | None, once: bool, every: float, form: str) -> int:
    """Show the workers of a world that runs: who waits for whom, who is stuck, and why; and whom they have lost.

    WORLD is the directory of a world, or the process id of one of its workers. Without it, all worlds that `launch` has made on
    this machine are shown. Workers report about once a second (`report_seconds`). Ctrl-C ends it.
    """
    if not find_worlds(world):
        raise click.UsageError(f"no world runs {f'in {world}' if world else 'here'}, or its workers do not report")
    with suppress(KeyboardInterrupt):
        while worlds := find_worlds(world):
            _show({one: look(one, time.time()) for one in worlds}, form, once)
            if once:
                break
            time.sleep(every)
    return OK


def _show(worlds: dict[Path, list[Seen]], form: str, once: bool) -> None:
    if form == "json":
        put(json.dumps({"worlds": [_document(world, workers) for world, workers in worlds.items()]}))
        return
    if not once and sys.stdout.isatty():
        click.clear()
    with page() as console:
        for world, workers in worlds.items():
            show_world(console, world, workers)


def _document(world: Path, workers: list[Seen]) -> dict[str, Any]:
    return {
        "directory": str(world),
        "workers": [
            {
                "worker": one.report["worker"],
                "state": one.state,
                "why": list(one.why),
                "age_s": one.age_s,
                "report": one.report,
            }
            for one in workers
        ],
    }


def show_world(console: Console, world: Path, workers: list[Seen]) -> None:
    """Print a world for people: its workers, and how each stands with the others."""
    console.print(Text(str(world), "bold"))
    table = plain_table()
    for title in ("worker", "pid", "state", "functions", "waiting", "values", "why"):
        table.add_column(title)
    for one in workers:
        report = one.report
        counts = (str(report[name]) for name in ("running", "waiting", "entries"))
        state = Text(one.state, STYLES[one.state])
        table.add_row(report["worker"], str(report["pid"]), state, *counts, "\n".join(one.why))
    console.print(table)
    console.print()
    console.print(_links(workers))
    if any(one.report["members"]["view"] or one.report["members"]["excluded"] for one in workers):
        console.print()
        console.print(_members(workers))


def _links(workers: list[Seen]) -> Table:
    links = plain_table()
    for title in ("from", "to", "link", *TITLES, "oldest", "unanswered", "retries"):
        links.add_column(title)
    for one in workers:
        for peer in one.report["peers"]:
            oldest = f"{peer['oldest_s']:.1f} s" if peer["oldest"] else ""
            numbers = (str(peer[name]) for name in LINKS)
            ends = (str(peer[name]) for name in ("unanswered", "retries"))
            links.add_row(one.report["worker"], peer["name"], peer["link"], *numbers, oldest, *ends)
    return links


def _members(workers: list[Seen]) -> Table:
    """Show which view each worker is in, whom it has lost, and what it keeps for them (R35 to R42)."""
    table = plain_table()
    for title in ("worker", *VIEWS, "waits for", "lost", "is", "since view", *KEPT):
        table.add_column(title)
    for one in workers:
        members = one.report["members"]
        rows = [
            (
                f"{lost['name']} ({lost['worker']})",
                lost["phase"],
                str(lost["view"]),
                *(str(lost[what]) for what in KEPT),
            )
            for lost in members["excluded"]
        ]
        begin = (one.report["worker"], *(str(members[name]) for name in VIEWS), ", ".join(members["unsettled"]))
        table.add_row(*begin, *(rows[0] if rows else ()))
        for row in rows[1:]:
            table.add_row(*("" for _ in begin), *row)
    return table
