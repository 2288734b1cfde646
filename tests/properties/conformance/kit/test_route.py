"""Random steps are left out as long as what is left still fails."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from farref.properties.conformance.checks.random import STEPS, drawn
from farref.properties.conformance.kit.route import Move, Route, shortened_route

SHARE = Move("share", "A", "x1", "B")


@dataclass(frozen=True)
class Run:
    route: Route | None


def shortest(route: Route, fails: Callable[[Route], bool], seconds: float = 60.0) -> Route:
    found = shortened_route(Run(route), lambda one: Run(one) if fails(one) else None, seconds)
    assert found.route is not None
    return found.route


def test_what_is_about_other_names_goes() -> None:
    route = tuple(Move("create", "A", f"x{number}", "B") for number in range(20))
    assert shortest(route, lambda one: route[13] in one) == (route[13],)


def test_of_equal_steps_as_many_stay_as_are_needed() -> None:
    route = (SHARE, Move("drop", "A", "x1", ""), *[SHARE] * 3)
    assert shortest(route, lambda one: one.count(SHARE) >= 2) == (SHARE, SHARE)


def test_steps_of_several_names_stay_if_they_are_needed_together() -> None:
    route = drawn(random.Random(3), "ABC")
    kept = {route[5], route[40], route[41]}
    assert set(shortest(route, lambda one: kept <= set(one))) == kept


def test_without_time_nothing_is_tried() -> None:
    assert shortest((SHARE,) * 4, lambda _one: True, 0.0) == (SHARE,) * 4


def test_who_does_something_with_a_value_holds_it() -> None:
    held: set[tuple[str, str]] = set()
    route = drawn(random.Random("references 0"), "ABC")
    for move in route:
        if move.verb == "create":
            held.add((move.worker, move.name))
            continue
        assert (move.worker, move.name) in held
        held |= {(move.to, move.name)} if move.verb == "share" else set()
        held -= {(move.worker, move.name)} if move.verb == "drop" else set()
    assert len(route) == STEPS
    assert {move.verb for move in route} == {"create", "share", "fetch", "drop"}
