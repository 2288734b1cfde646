"""Crash points between real processes. `farref crashes --backend processes` takes all of them; here is one of every kind."""

from __future__ import annotations

import pytest

from farref.impl.core.authority import Authority
from farref.properties.twin.backends.crashes.real import world
from farref.properties.twin.backends.crashes.real.campaign import real_points, try_real_points
from farref.properties.twin.backends.crashes.real.points import MOMENTS, Mark, RealPoint

SAMPLE = (
    "lend.C-ForkRequest-B.1.unsent",
    "lend.A-Call-C.1.sent",
    "lend.B-Ack-C.1.stops-untaken",
    "heirs.C-Return-D.1.taken",
    "overtaken.A-RemoteCall-B.1.untaken",
    "home.C-Return-D.1.stops-unsent",
    "chain.E-ForkRequest-B.1.untaken",
    "pass.B-PropagateGradients-C.1.taken",
    "pass.A-Commit-C.1.unsent",
    "unused.B-Mark-C.1.stops-unsent",
    "other-root.C-Report-B.1.sent",
)


def test_there_are_many_points_and_each_has_a_name() -> None:
    points = real_points()
    assert len(points) == len({point.name for point in points}) >= 500
    assert {point.moment for point in points} == {*MOMENTS}
    assert {*SAMPLE} <= {point.name for point in points}
    assert {point.moment.name for point in points if point.name in SAMPLE} == {moment.name for moment in MOMENTS}


def test_whoever_is_lost_and_whenever_nothing_of_it_is_left_and_nobody_else_loses_anything() -> None:
    points = [point for point in real_points() if point.name in SAMPLE]
    assert [outcome for outcome in try_real_points(points) if outcome.problems] == []


def test_a_message_that_never_comes_is_no_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "PATIENCE_S", 0.1)
    (outcome,) = try_real_points([RealPoint("home", Mark("C", "Nothing", "B", 1), MOMENTS[0])])
    assert outcome.problems == ("nobody is lost: the story never comes to this message",)


@pytest.mark.filterwarnings("ignore:.*could not release")
def test_what_is_kept_for_the_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "PATIENCE_S", 0.1)
    monkeypatch.setattr(Authority, "_bury", lambda _: [])
    (point,) = [point for point in real_points() if point.name == SAMPLE[1]]
    (outcome,) = try_real_points([point])
    assert any("keeps something for the lost" in problem for problem in outcome.problems)
