"""`farref check --disk`: worlds beyond memory, and searches that go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from farref.model.checker.disk import search

Farref = Callable[..., Result]

WORLD = ("check", "rref", "--workers", "2", "--forks", "2", "--drops", "1")


def ask(farref: Farref, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(farref(*words, "--format", "json").stdout)
    return answer


def test_states_on_disk_are_the_states_in_memory(farref: Farref, tmp_path: Path) -> None:
    one, other = ask(farref, *WORLD), ask(farref, *WORLD, "--disk", str(tmp_path / "states"))
    for name in ("verdict", "distinct", "generated", "depth"):
        assert one[name] == other[name], name


def test_a_search_that_was_cut_short_goes_on(farref: Farref, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SAVE_SECONDS", 0.0)
    place = str(tmp_path / "states")
    assert ask(farref, *WORLD, "--disk", place, "--memory-max", "8", "--depth-max", "5")["verdict"] == "incomplete"
    assert ask(farref, *WORLD, "--resume", place)["distinct"] == ask(farref, *WORLD)["distinct"]


def test_a_folder_without_a_search_is_said(farref: Farref, tmp_path: Path) -> None:
    said = farref(*WORLD, "--resume", str(tmp_path))
    assert said.exit_code == 3
    assert said.stderr.startswith(f"farref: {tmp_path} has no search to go on with")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("check", "rref", "--disk", "D"), "one configuration"),
        ((*WORLD, "--disk", "D", "--resume", "D"), "give one of them"),
        ((*WORLD, "--memory-max", "2"), "add --disk or --resume"),
        ((*WORLD, "--disk", "D", "--symmetry"), "without --symmetry"),
        ((*WORLD, "--disk", "D", "--engine", "reference"), "other engines"),
        ((*WORLD, "--disk", "D", "--memory-max", "0"), "whole number from 1"),
    ],
)
def test_what_does_not_go_together_is_said_in_a_line(
    farref: Farref, words: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    said = farref(*(str(tmp_path) if word == "D" else word for word in words))
    assert said.exit_code == 2
    assert complaint in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1
