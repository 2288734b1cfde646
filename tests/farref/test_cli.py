"""The command line as a whole: commands are loaded when they are asked for, and listed as they describe themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from farref.cli import COMMANDS, cli

ROOT = Path(__file__).parents[2]
LOADED = """
import sys
from farref.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("MODULES", *sys.modules)
"""
HEAVY = ("numpy", "hypothesis", "pytest", "torch")
SEARCHING = ("farref.model.checker.fast", "farref.checking", "farref.properties.twin.campaign", "farref.impl")


def loaded(*words: str) -> set[str]:
    """Run a command in a process of its own, and list the modules that it has imported."""
    done = subprocess.run([sys.executable, "-c", LOADED, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split("MODULES")[-1].split())


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("doctor", "--format", "json")], ids=" ".join)
def test_what_needs_no_protocol_loads_none(words: tuple[str, ...]) -> None:
    modules = loaded(*words)
    assert "farref.cli" in modules
    assert not modules & {*HEAVY, *SEARCHING, "farref.properties", "farref.model"}


@pytest.mark.parametrize("words", [("spec",), ("spec", "R7")], ids=" ".join)
def test_the_spec_is_read_without_a_checker(words: tuple[str, ...]) -> None:
    modules = loaded(*words)
    assert "farref.clauses" in modules
    assert not modules & {*HEAVY, *SEARCHING}


def test_every_command_is_a_file() -> None:
    files = {path.stem for path in (ROOT / "farref" / "commands").glob("*.py")} - {"__init__"}
    assert files == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_as_it_describes_itself(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert (command.name, " ".join((command.help or "").split("\n\n")[0].split())) == (name, COMMANDS[name])
