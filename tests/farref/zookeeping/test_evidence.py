"""The evidence on one page: the figures are those of the record, and the page works by itself."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from itertools import cycle, islice
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from farref.model.checker.reference import check
from farref.model.rref.world import Bounds
from farref.properties.protocols import PROTOCOLS, sound_model
from farref.rendering.evidence.curves import curves, picture
from farref.rendering.evidence.figures import ORIGINS, by_origin, fates, kill_rates, unseen_actions
from farref.rendering.evidence.html import evidence_page
from farref.rendering.evidence.markdown import page
from farref.terminal.exits import OK
from farref.zookeeping import record, visiting
from farref.zookeeping.driven import SIMULATED
from farref.zookeeping.outcome import killed, survived
from farref.zookeeping.record import Evidence, Judged
from farref.zookeeping.transitions import campaigns, kinds
from tests.farref.browser import hidden_browser, logged, opened, requests, set_width
from tests.generated import farref

EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(1)>"


def measured() -> Evidence:
    """A small record, with something hostile in it."""
    drawn = {"about": EVIL, "command": "farref fuzz rref", "schedules": 3, "steps": 9}
    curve = [{"runs": 1, "seconds": 0.5, "states": 3}, {"runs": 100, "seconds": 61.0, "states": 50}]
    return Evidence(
        stamps=[record.Stamp(commit="abc", date="2026-01-01", machine=EVIL)],
        zoo={
            "fetch_does_not_pin": {"simulated": Judged(outcome=killed(EVIL, 7, [EVIL]), stamp=0)},
            "owner.on_user_delete.1": {"simulated": Judged(outcome=survived(150), stamp=0)},
        },
        coverage={"rref": {"world": EVIL, "states": 100, "checked_s": 0.1, "curves": {"simulated": curve}}, "stamp": 0},
        transitions={"rref": {"campaigns": [drawn], "actions": {"LetGo": 9, "Shutdown": 0}}, "stamp": 0},
    )


def test_the_rates_are_counted() -> None:
    rates = kill_rates(fates(measured()))
    assert (rates["simulated"]["rref"].killed, rates["simulated"]["rref"].taken) == (1, 2)
    assert rates["proof"]["rref"].share == "–"


def test_every_creature_has_an_origin_that_is_told() -> None:
    counted = by_origin(fates(record.read()))
    assert list(counted) == list(ORIGINS)
    assert all(row[0] for row in counted.values())
    assert all(row[0] == sum(row[1:]) for row in counted.values())


def test_what_was_never_seen_is_said_plainly() -> None:
    assert unseen_actions({"LetGo": 9, "Shutdown": 0}) == ["Shutdown"]
    assert "Never seen: Shutdown." in page(measured())


def test_a_curve_ends_at_its_share() -> None:
    drawn = curves({"simulated": [{"runs": 1, "seconds": 1.0, "states": 0}]}, 10, "runs")
    assert 'd="M56.0 256.0"' in drawn
    assert curves({"simulated": [{"runs": 1, "seconds": 1.0, "states": 10}]}, 10, "runs").count("M56.0 14.0") == 1


def test_a_time_that_was_not_measured_is_a_dash() -> None:
    assert "| simulated | 50.0% (100 runs) | – | – |" in page(measured())
    assert "50.0% (100 runs)" in evidence_page(measured())


def test_a_curve_that_stands_alone_has_its_colours_with_it() -> None:
    drawn = picture({"simulated": [{"runs": 1, "seconds": 1.0, "states": 5}]}, 10)
    assert fromstring(drawn).tag.endswith("svg")
    assert ".curve.simulated { stroke:" in drawn


def test_whatever_is_visited_can_be_reached_and_is_counted_once() -> None:
    bounds = Bounds(workers=2, forks=1)
    model, todo, known = sound_model(bounds), [sound_model(bounds).initial], {sound_model(bounds).initial}
    while todo:
        world = todo.pop()
        for after in (model.step(world, action) for action in model.actions):
            if after is not None and after not in known:
                known.add(after)
                todo.append(after)
    assert len(known) == visiting.reachable(bounds) == check(model, ()).distinct
    backend = SIMULATED["rref"]()
    about = PROTOCOLS["rref"]
    visited = {world for number in range(30) for _, world in visiting.steps(about, backend, number, asdict(bounds))}
    assert visited <= known
    assert len(visited) > len(known) // 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_real_processes_were_seen_to_take_every_action(protocol: str) -> None:
    seen = record.read().transitions[protocol]["actions"]
    assert unseen_actions({kind: seen.get(kind, 0) for kind in kinds(PROTOCOLS[protocol])}) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_campaigns_together_draw_every_action(protocol: str) -> None:
    """On the simulated network, which takes the same steps as real processes do."""
    about, drawn = PROTOCOLS[protocol], cycle(campaigns(protocol))
    left = {*kinds(about)}
    with closing(SIMULATED[protocol]()) as backend:
        for campaign in islice(drawn, 800):
            left.difference_update(campaign.take(about, backend))
            if not left:
                break
    assert left == set()


def test_curves_end_with_the_time() -> None:
    points = visiting.curve(iter([(1, 5), (2, 6), (3, 9)]), [0.0])
    assert [one.runs for one in points] == [1]


def test_a_curve_has_a_point_at_each_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between marks a point is kept now and then only; the one at a mark is the first after it."""
    now = iter(range(100))
    monkeypatch.setattr("time.monotonic", lambda: float(next(now)))
    points = visiting.curve(((100 + runs, runs) for runs in range(90)), [50, 10])
    assert [(one.runs, one.seconds) for one in points] == [(100, 1.0), (109, 10.0), (137, 38.0), (149, 50.0)]


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    place, page_there = tmp_path / "evidence.json", tmp_path / "evidence.html"
    record.write(measured(), place)
    said = farref("evidence", "--record", str(place), "--format", "markdown", exit_code=OK)
    assert "| **simulated**: farref fuzz: the twin over a simulated network | 1 of 2 | – | – |" in said
    farref("evidence", "--record", str(place), "-o", str(page_there), exit_code=OK)
    assert "<h1>" in page_there.read_text()
    assert "creatures" in farref("evidence", exit_code=OK)


def test_nothing_that_was_measured_becomes_markup() -> None:
    made = evidence_page(measured())
    assert "<script" not in made
    assert "<img" not in made
    assert "unsafe" not in made


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_in_a_browser(tmp_path: Path, width: int) -> None:
    """It asks for nothing, complains of nothing, fits, and shows a story when it is opened."""
    there = tmp_path / "evidence.html"
    there.write_text(evidence_page(measured()), "utf-8")
    with hidden_browser(tmp_path / "profile") as browser:
        set_width(browser, width)
        script = opened(browser, there.as_uri())
        assert script("return document.querySelectorAll('svg.curves path.curve').length") == 2
        assert script("return getComputedStyle(document.querySelector('svg.curves path.curve')).fill") == "none"
        assert script("return document.documentElement.scrollWidth") <= width
        script("document.querySelector('details summary').focus(); document.querySelector('details summary').click()")
        assert script("return document.querySelector('details').open")
        assert script("return document.images.length") == 0
        assert [one for one in requests(browser) if not one.startswith("file:")] == []
        assert logged(browser, "browser") == []
