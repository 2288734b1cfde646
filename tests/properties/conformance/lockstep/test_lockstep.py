"""Backends behind adapters, driven beside the model one step at a time: ours, one in JavaScript, and wrong ones."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from farref.cli import cli
from farref.judging.plan import Asked, make_plan
from farref.properties.conformance.conversation.validation import validate
from farref.properties.conformance.kit.document import Row, Verdict
from farref.properties.conformance.kit.named import Target, spoken, target
from farref.properties.conformance.kit.runner import Runner
from farref.properties.conformance.kit.verbs import SCHEDULES
from tests.properties.conformance.lockstep.mutants import ENDS, HELD, MUTANTS, command

CHECK = "R33.lockstep"
STEPS_MAX = 10
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")

FORGETFUL = """
from farref.properties.conformance.adapters.simulated.adapter import Adapter as Honest

class Adapter(Honest):
    name = "forgetful"
    def copy(self, message):
        self.held.network.deliver(message)  # and no copy stays
        self.held.hear()
"""

ALONE = """
from farref.properties.conformance.adapters.simulated.held import HeldWorld, StepVerbs

class Adapter(StepVerbs):
    name, version, capabilities = "alone", "1", frozenset(["lockstep"])
    def start(self, workers, options):
        self.held = HeldWorld(workers)
    def stop(self):
        return []
"""


def judged(one: Target, *, schedules: int = SCHEDULES) -> Row:
    """Judge a backend step by step."""
    report = Runner(make_plan(one, Asked(only=(CHECK,), runs=1, schedules=schedules))).run()
    [row] = [row for row in report.clauses if row.id == CHECK]
    return row


def farref(*words: str) -> str:
    return CliRunner().invoke(cli, words, catch_exceptions=False).output


@needs_node
def test_a_core_in_javascript_is_like_the_model_after_every_step() -> None:
    row = judged(spoken(("node", HELD)), schedules=30)
    assert (row.verdict, row.message) == (Verdict.PASS, "")


def test_our_own_core_is_driven_through_its_adapter_too() -> None:
    row = judged(target("simulated"), schedules=30)
    assert (row.verdict, row.message) == (Verdict.PASS, "")


@needs_node
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_core_is_caught_and_its_run_shrunk(mutant: str, tmp_path: Path) -> None:
    row = judged(spoken(command(mutant, tmp_path)))
    assert row.verdict is Verdict.FAIL
    assert "after" in row.message
    *steps, last = row.story
    assert len(steps) <= STEPS_MAX, [one.text for one in row.story]
    assert last.trouble
    assert not any(one.trouble for one in steps)


@needs_node
def test_what_is_found_has_a_story_a_program_and_a_run_to_be_taken_again(tmp_path: Path) -> None:
    wrong = command("deletes before it is confirmed (R25)", tmp_path)
    row = judged(spoken(wrong))
    assert "lets go of" in row.story[-2].text
    assert "in flight from" in row.story[-1].outcome
    assert "UserDelete" in row.story[-1].outcome
    program, run = [tmp_path / one.name for one in row.scripts]
    for one in row.scripts:
        (tmp_path / one.name).write_text(one.text)
    assert subprocess.run([sys.executable, program], capture_output=True, check=False).returncode == 1
    program.write_text(program.read_text().replace(repr(list(wrong)), repr(["node", HELD])))
    assert subprocess.run([sys.executable, program], capture_output=True, check=False).returncode == 0, "it is mended"
    assert "DISAGREED" in farref("replay", str(run), "--backend", f"adapter:{shlex.join(wrong)}")
    assert "AGREED: model and" in farref("replay", str(run), "--backend", f"adapter:node {HELD}")


@needs_node
def test_a_core_that_ends_has_a_short_story_too(tmp_path: Path) -> None:
    row = judged(spoken(command(ENDS, tmp_path)))
    assert row.verdict is Verdict.FAIL
    assert "the adapter ended with exit code 3; its last words: boom" in row.message
    assert ["receives FetchCall" in one.text for one in row.story] == [False, False, True]
    assert row.story[-1].trouble


def test_an_adapter_in_python_that_is_wrong_is_caught(tmp_path: Path) -> None:
    place = tmp_path / "forgetful.py"
    place.write_text(FORGETFUL)
    row = judged(target(str(place)))
    assert row.verdict is Verdict.FAIL
    assert len(row.story) <= STEPS_MAX
    assert "a copy" in row.story[-2].text


def test_who_cannot_hold_messages_is_skipped_and_not_failed() -> None:
    row = judged(target("managers"))
    assert (row.verdict, row.message) == (Verdict.SKIPPED, "the backend does not declare lockstep")


@pytest.mark.parametrize("tables", ["{**honest, 'Z': honest['A']}", "{'A': honest['A'], 'B': honest['B']}"])
def test_tables_of_other_workers_than_there_are_agree_with_nothing(tables: str, tmp_path: Path) -> None:
    place = tmp_path / "adapter.py"
    look = f"honest = self.held.look()['workers']; return {{**self.held.look(), 'workers': {tables}}}"
    place.write_text(f"{ALONE}    def look(self): {look}\n")
    row = judged(target(str(place)))
    assert row.verdict is Verdict.FAIL
    assert "`look` shows tables of A, B" in row.message


def mistakes(tmp_path: Path, adapter: str) -> list[str]:
    place = tmp_path / "adapter.py"
    place.write_text(adapter)
    return [one.mistake for one in validate(target(str(place)).command) if one.mistake is not None]


def test_an_adapter_may_have_the_step_verbs_alone(tmp_path: Path) -> None:
    assert mistakes(tmp_path, ALONE) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("def look(self): return {'messages': []}", "it does not show what `look` must show: Object missing required"),
        (
            "def look(self): return {**self.held.look(), 'workers': {}}",
            "it shows the tables of [], and the workers are",
        ),
        ("def look(self): return {**self.held.look(), 'messages': []}", "under way are [], and must be ['RemoteCall']"),
        (
            "def begin(self, *what): self.held.begin(*what)",
            "it must say which rref and fork it has made, each as a text",
        ),
        ("def begin(self, *what): return {'rref': 'x', 'fork': 'f'}", "it is carried out, and must fail"),
    ],
)
def test_a_wrong_step_verb_is_named_before_anything_is_judged(wrong: str, said: str, tmp_path: Path) -> None:
    assert any(said in one for one in mistakes(tmp_path, f"{ALONE}    {wrong}\n"))


def test_a_campaign_drives_an_adapter_by_its_name_or_command() -> None:
    told = farref("fuzz", "rref", "--backend", "adapter:simulated", "--schedules", "3", "--first", "0")
    assert "3 schedules" in told
    assert "AGREED" in told


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("adapter:nobody", "no backend is called 'nobody'"),
        ("adapter:managers", "does not declare lockstep"),
        ("adapter:no-such-program x", "no-such-program cannot be started"),
    ],
)
def test_what_cannot_be_driven_is_told_in_a_line(given: str, said: str) -> None:
    told = farref("fuzz", "rref", "--backend", given, "--schedules", "1")
    assert said in told
