"""The help of the commands with many options: in groups, each option in the group where one looks for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields

import click
import pytest
from click.testing import Result

from farref.cli import COMMANDS, cli
from farref.options.bounds import BOUNDS_HELP, bound_names
from farref.options.groups import SUBJECTS_HELP
from farref.properties.protocols import CHECKED, PROTOCOLS

Farref = Callable[..., Result]


def sections(page: str) -> dict[str, str]:
    """Cut a help page into its sections."""
    _, *pieces = re.split(r"^(\S.*):\n", page, flags=re.MULTILINE)
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


@pytest.mark.parametrize("command", ["check", "fuzz"])
def test_bounds_stand_with_their_protocol(farref: Farref, command: str) -> None:
    found = sections(farref(command, "--help").stdout)
    names = {name: {bound.name for bound in fields(about.bounds)} for name, about in CHECKED.items()}
    for group, bounds in {
        "both protocols": names["rref"] & names["autograd"],
        "rref": names["rref"] - names["autograd"],
        "autograd": names["autograd"] - names["rref"],
        **({"threads": names["threads"]} if command == "check" else {}),
    }.items():
        [page] = [text for title, text in found.items() if title.startswith(f"Bounds of {group}")]
        flags = set(re.findall(r"^  --([a-z-]+)", page, flags=re.MULTILINE))
        assert flags == {name.replace("_", "-") for name in bounds}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_listed_once(farref: Farref, command: str) -> None:
    page = farref(command, "--help").stdout
    loaded = cli.get_command(click.Context(cli), command)
    assert loaded is not None
    for one in loaded.params:
        if isinstance(one, click.Option):
            assert len(re.findall(rf"^  (?:-\w, )?{one.opts[-1]}\b(?!-)", page, flags=re.MULTILINE)) == 1, one.opts


@pytest.mark.parametrize("command", ["check", "fuzz"])
def test_subjects_are_told(farref: Farref, command: str) -> None:
    told = sections(farref(command, "--help").stdout)["Subjects"]
    assert list(SUBJECTS_HELP) == list(CHECKED)
    known = CHECKED if command == "check" else PROTOCOLS
    assert re.findall(r"^  (\w+) +\w", told, flags=re.MULTILINE) == list(known)


def test_every_bound_is_a_sentence() -> None:
    assert set(BOUNDS_HELP) == set(bound_names(list(CHECKED.values())))
    assert all(re.fullmatch(r"[A-Z].*\.", text) for text in BOUNDS_HELP.values())
