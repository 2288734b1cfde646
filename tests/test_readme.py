"""What the README shows is what the commands print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from farref.model.rref.rules import RULES
from farref.properties.autograd.claims import CLAIMS
from farref.properties.proof.subjects import SUBJECTS
from farref.properties.zoo.catalogue import everybody
from tests.generated import farref
from tests.properties.test_portfolios import STATES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PATHS = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_first_command_prints_what_is_shown() -> None:
    block = README.split("$ farref check rref --profile torch --claim N1b\n")[1].split("```")[0]
    page = farref("check", "rref", "--profile", "torch", "--claim", "N1b", "--quiet", exit_code=1)
    printed = {line.rstrip() for line in page.splitlines()}
    shown = [line.rstrip() for line in block.splitlines() if line != "…"]
    assert len(shown) > 5
    assert [line for line in shown if line not in printed] == []


def test_the_program_runs(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    [program] = [block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "launch(" in block]
    script.write_text(program)
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, cwd=ROOT, env=PATHS
    )
    assert (ran.stdout, ran.stderr) == ("6\n", "")


def test_the_state_machine_is_a_test_that_pytest_runs(tmp_path: Path) -> None:
    """It fails, as the backend is wrong; what is printed is compared in tests/test_examples.py."""
    [program] = [block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "twin_machine" in block]
    settings = "\nfrom hypothesis import Phase, settings\nTestLateOwner.settings = settings(phases=[Phase.generate])\n"
    (tmp_path / "test_twin.py").write_text(program + settings)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_twin.py"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, env=PATHS)
    assert "1 failed" in ran.stdout, ran.stdout
    assert "model and LateOwner backend disagree after" in ran.stdout


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *(ROOT / "spec").glob("*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def test_what_is_counted_is_as_many() -> None:
    """Numbers in sentences, which no table is generated for."""
    safety = SUBJECTS["rref"].theorems[0].invariant
    [least] = re.findall(r"More than (\d+) creatures are wrong", README)
    [lines] = re.findall(r"This one, of about (\d+) lines", README)
    [millions] = re.findall(r"every property, in (\d+) million states", README)
    assert f"# {len(safety)} clauses that " in README
    assert 0 < len(everybody()) - int(least) < 100
    assert abs(len((ROOT / "examples" / "late_owner.py").read_text().splitlines()) - int(lines)) < 10
    assert round(sum(STATES.values()) / 1e6) == int(millions)
    assert len(CLAIMS) == 9
    assert "Distributed autograd has nine such claims." in README


def test_rules_and_options_named_exist() -> None:
    assert all(rule in RULES for rule in re.findall(r"--without (\w+)", README))
    known = "".join(
        farref(command, "--help", exit_code=0)
        for command in ("check", "prove", "fuzz", "replay", "conform", "zoo", "evidence")
    )
    assert all(option in known for option in re.findall(r"(--[a-z][a-z-]+)", README))
