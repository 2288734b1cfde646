"""`farref conform --jobs`: checks side by side say the same, and Ctrl-C loses nothing, however often it is pressed."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.checked_adapter import CheckedAdapter
from farref.properties.conformance.kit.verdicts import CheckRun
from tests.farref.conformance import TOY

Farref = Callable[..., Result]
ASKED = ("--only", "R4", "--only", "R20", "--quiet", "--format", "json")


def verdicts(result: Result) -> list[tuple[str, str]]:
    return [(row["id"], row["verdict"]) for row in json.loads(result.stdout)["clauses"]]


@pytest.fixture
def adapters(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Count the adapters that run checks."""
    found, run = set(), CheckedAdapter.run

    def counted(self: CheckedAdapter, check: Check) -> CheckRun:
        found.add(id(self))
        return run(self, check)

    monkeypatch.setattr(CheckedAdapter, "run", counted)
    return found


def test_the_verdicts_are_the_same_and_in_the_same_order(farref: Farref, adapters: set[int]) -> None:
    alone = farref("conform", "--backend", "simulated", *ASKED)
    assert len(adapters) == 1
    together = farref("conform", "--backend", "simulated", *ASKED, "--jobs", "3")
    assert len(adapters) == 4
    assert verdicts(alone) == verdicts(together)
    assert (alone.exit_code, together.exit_code) == (0, 0)


def test_a_backend_that_does_not_say_so_is_asked_one_thing_at_a_time(farref: Farref, adapters: set[int]) -> None:
    result = farref("conform", "--backend", TOY, *ASKED, "--jobs", "3")
    assert len(adapters) == 1
    assert json.loads(result.stdout)["notes"][-1] == (
        "the adapter does not declare several: its checks were run one at a time"
    )


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_second_ctrl_c_loses_nothing(farref: Farref, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[str] = []
    enter, put_down = "farref.properties.conformance.kit.runner.Runner._enter", CheckedAdapter.put_down

    def press_twice(self: CheckedAdapter) -> None:
        if len(pressed) == 1:
            pressed.append("while adapters are put down")
            signal.raise_signal(signal.SIGINT)
        put_down(self)

    def press(runner: Any, row: Any) -> Any:
        runner._rows[row.id] = row
        if row.id == "R20" and not pressed:
            pressed.append("while checks are run")
            signal.raise_signal(signal.SIGINT)
        return row

    monkeypatch.setattr(CheckedAdapter, "put_down", press_twice)
    monkeypatch.setattr(enter, press)
    result = farref("conform", "--backend", "simulated", *ASKED, "--jobs", jobs)
    assert len(pressed) == 2
    found = dict(verdicts(result))
    assert found["R20"] == "pass"
    assert "untested" in found.values()
    assert result.exit_code == 4
    assert result.stderr.endswith("farref: interrupted\n")
