"""What the README shows is what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from farref.cli import cli
from farref.model.rules import RULES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def output(*arguments: str) -> str:
    return CliRunner().invoke(cli, arguments, env={"COLUMNS": "120"}).stdout


def test_the_table_of_claims_is_generated() -> None:
    shown = README.split("--each claim --format markdown -->\n")[1].split("<!-- end of claims -->")[0]
    assert shown.strip() == output("check", "rref", "--each", "claim", "--format", "markdown", "--quiet").strip()


def test_the_first_command_prints_what_is_shown() -> None:
    block = README.split("$ farref check rref --profile torch --claim N1b\n")[1].split("```")[0]
    printed = {
        line.rstrip()
        for line in output("check", "rref", "--profile", "torch", "--claim", "N1b", "--quiet").splitlines()
    }
    shown = [line.rstrip() for line in block.splitlines() if line != "…"]
    assert len(shown) > 5
    assert [line for line in shown if line not in printed] == []


def test_the_diagram_is_the_one_the_command_draws(tmp_path: Path) -> None:
    trace, drawing = str(tmp_path / "n1.json"), tmp_path / "n1.svg"
    output("check", "rref", "--profile", "torch", "--claim", "N1", "--quiet", "--save", trace)
    output("explain", trace, "-o", str(drawing))
    assert drawing.read_text() == (ROOT / "spec" / "n1.svg").read_text()


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *(ROOT / "spec").glob("*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def test_rules_and_options_named_exist() -> None:
    assert all(rule in RULES for rule in re.findall(r"--without (\w+)", README))
    known = output("check", "--help")
    assert all(option in known for option in re.findall(r"(--[a-z][a-z-]+)", README))
