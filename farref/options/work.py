"""Who does the work of a campaign or of a table: the flags `--jobs` and `--cluster`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click

from farref.options.groups import OUTPUT, Command, Decorator, option, with_options
from farref.options.numbers import WholeNumber
from farref.properties.work.cluster import complaint


def _address(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    wrong = None if value is None else complaint(value)
    if wrong is not None:
        raise click.BadParameter(wrong)
    return value


CLUSTER_HELP: Final = "Share the work on the Dask cluster of this scheduler; local starts one here."
CLUSTER: Final[dict[str, Any]] = {"callback": _address, "metavar": "ADDRESS|local", "help": CLUSTER_HELP}

cluster_option: Final = click.option("--cluster", **CLUSTER)
"""For a command whose other options say who works here."""


def work_options(group: str) -> Sequence[Decorator]:
    """Make the options that say who does the work."""
    return [
        option(group, "--jobs", type=WholeNumber(1), help="Number of processes that share the work. Default 1."),
        option(group, "--cluster", **CLUSTER),
    ]


def with_work_options(command: Command) -> Command:
    """Add the options that say who does the work, to a command without groups of options."""
    return with_options(command, work_options(OUTPUT))


def is_shared(given: dict[str, Any]) -> bool:
    """Say whether somebody else is to do the work."""
    return given["jobs"] is not None or given["cluster"] is not None


def work_given(given: dict[str, Any]) -> dict[str, Any]:
    """Give who is to do the work, as `hire` takes it."""
    if given["jobs"] is not None and given["cluster"] is not None:
        raise click.UsageError("--cluster has its own workers; leave out --jobs")
    return {"jobs": given["jobs"] or 1, "cluster": given["cluster"]}
