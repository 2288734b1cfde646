"""`farref crashes`."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result

from farref.properties.zoo.catalogue import CRASH_MUTANTS

Farref = Callable[..., Result]


def test_a_story_holds(farref: Farref) -> None:
    result = farref("crashes", "lend")
    assert result.exit_code == 0
    assert (
        "180 crash points (60 gone, 60 heard, 60 zombie): after each of them everything is as the spec says"
        in result.stdout
    )


def test_one_point_is_taken_again_and_tells_where_it_is(farref: Farref) -> None:
    result = farref("crashes", "--replay", "heirs.08.C.zombie")
    assert result.exit_code == 0
    assert "heirs, before 'A drops x': the parent is lost (zombie)" in result.stdout


def test_the_names_are_listed(farref: Farref) -> None:
    result = farref("crashes", "lend", "--list")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 180


def test_a_point_between_processes_is_taken(farref: Farref) -> None:
    result = farref("crashes", "--backend", "processes", "--replay", "home.B-Call-C.1.sent")
    assert result.exit_code == 0, result.stdout
    assert "home: B is killed at Call 1 of B to C (sent)" in result.stdout
    assert "1 crash point (1 killed): after each of them everything is as the spec says" in result.stdout


def test_what_goes_wrong_is_told_and_can_be_taken_again(farref: Farref) -> None:
    with CRASH_MUTANTS["forks_are_released_at_once"].alive():
        result = farref("crashes", "heirs")
        found = json.loads(farref("crashes", "heirs", "--format", "json").stdout)
        again = farref("crashes", "--replay", found["problems"][0]["point"])
    assert (result.exit_code, again.exit_code) == (1, 1)
    assert f"farref crashes --replay {found['problems'][0]['point']}" in result.stdout
    assert f"... and {found['broken'] - 5} more" in result.stdout
