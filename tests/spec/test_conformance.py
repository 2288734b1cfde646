"""What `spec/conformance.md` shows is so: its commands, its failure, its protocol."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from farref.properties.conformance.conversation.host import ARGUMENTS
from farref.properties.conformance.kit.document import Verdict
from farref.properties.conformance.kit.expectations import Expectation
from tests.generated import farref

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "spec" / "conformance.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_options_exist() -> None:
    known = farref("conform", "--help", exit_code=0) + "--pyargs"
    commands = [line for block in blocks("console") for line in block.splitlines() if "farref" in line]
    assert len(commands) >= 8
    for command in commands:
        asked = re.search(r"farref (fuzz|replay) ", command)
        of_it = farref(asked[1], "--help", exit_code=0) if asked else known
        for option in re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", command):
            assert option in of_it, option


@pytest.mark.waits
def test_the_failure_is_what_is_printed(tmp_path: Path) -> None:
    adapter = (ROOT / "examples" / "adapter_managers.py").read_text()
    assert "        self.desks[worker].pop(name)\n" in adapter
    forgetful = adapter.replace("        self.desks[worker].pop(name)\n", "        pass\n")
    (tmp_path / "forgetful.py").write_text(forgetful)
    command = [sys.executable, "-m", "farref", "conform", "--backend", "forgetful.py", "--only", "R26"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 1, ran.stderr
    (block,) = [one for one in blocks("console") if "forgetful" in one]
    shown = [line for line in block.splitlines()[2:] if not line.endswith("…")]
    printed = [line.rstrip() for line in ran.stdout.splitlines()]
    assert len(shown) == 8
    assert [line for line in shown if line not in printed] == []


def test_the_expectations_are_expectations() -> None:
    (block,) = blocks("toml")
    (expected,) = tomllib.loads(block)["expected"]
    assert set(expected) == set(Expectation.__struct_fields__)


def test_the_conversation_follows_the_protocol() -> None:
    (conversation,) = re.findall(r"```\n(→.*?)```", PAGE, re.DOTALL)
    requests, answers = ([json.loads(line[2:]) for line in conversation.splitlines() if line[0] == way] for way in "→←")
    assert [one["id"] for one in requests] == [one["id"] for one in answers]
    for request in requests[1:]:
        assert tuple(request)[2:] == ARGUMENTS[request["verb"]]


def test_every_verdict_is_explained() -> None:
    reading = PAGE.split("## How to read a failure")[1].split("## The protocol")[0]
    assert all(f"`{verdict.value}`" in reading for verdict in Verdict)
