"""The logs of real processes as a walk: every event, what was under way, and the one that nothing explains."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import Result

from farref.exploring.logged import EVENTS_MAX, logged_document
from farref.exploring.page import document_in
from farref.properties.logs.format import read_logs
from farref.properties.logs.validate import validate
from tests.farref.browser import logged, opened, requests, settle

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

Farref = Callable[..., Result]
EVIL = "</script><img src=x onerror=alert(1)>\"'&"


def sample() -> list[dict[str, Any]]:
    """The logs that the manual shows."""
    page = (Path(__file__).parents[3] / "spec" / "log.md").read_text()
    shown = re.search(r"```json\n(\{\"format\"[^`]*\n\{\"format\"[^`]*)```", page)
    assert shown is not None
    return [json.loads(line) for line in shown[1].splitlines()]


def content(lines: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_every_event_is_a_step_and_messages_are_under_way_until_they_arrive() -> None:
    told = logged_document(read_logs([("log", content(sample()))]), None)
    assert len(told.run) == 33
    for number, label in enumerate(told.run):
        [turn] = told.nodes[str(number)].turns
        assert (turn.label, turn.to) == (label, str(number + 1))
        if turn.message is not None:
            assert turn.message in told.nodes[str(number)].flying
            assert turn.message not in told.nodes[turn.to].flying
    assert told.nodes["33"].flying == ()
    assert all(node.broken == {} for node in told.nodes.values())


def test_the_event_that_nothing_explains_is_marked() -> None:
    lines = [line for line in sample() if line.get("event") != "create remote"]
    for line in lines:
        if line.get("worker") == 0 and "number" in line:
            line["number"] -= 1
    log = read_logs([("log", content(lines))])
    finding = validate(log)
    assert finding is not None
    told = logged_document(log, finding)
    assert sum("log" in node.broken for node in told.nodes.values()) == 1
    assert "finds: " in told.notes[0]


def test_a_long_log_is_cut_and_said_to_be() -> None:
    header = {"format": "farref-log/1", "subject": "rref", "worker": 0, "workers": ["A"]}
    events = [{"worker": 0, "number": n, "event": "create local", "rref": f"0.{n}"} for n in range(1, EVENTS_MAX + 10)]
    told = logged_document(read_logs([("log", content([header, *events]))]), None)
    assert len(told.nodes) == EVENTS_MAX + 1
    assert "Only the first 2,000 of 2,009 events are shown." in told.notes


def test_names_that_would_be_code_stay_text(browser: Chrome, farref: Farref, tmp_path: Path) -> None:
    lines = sample()
    for line in lines:
        if "workers" in line:
            line["workers"] = [EVIL, "\x1b[31mB"]
    (tmp_path / "a.jsonl").write_bytes(content(lines))
    path = tmp_path / "page.html"
    result = farref("explore", "rref", str(tmp_path), "-o", str(path))
    assert result.exit_code == 0, result.output
    assert "\x1b" not in document_in(path.read_text("utf-8")).lanes[1].name
    script = opened(browser, path.as_uri())
    settle(browser, "document.documentElement.dataset.ready === 'yes'")
    script("document.getElementById('last').click()")
    settle(browser, "document.getElementById('where').textContent === 'step 33 of 33'")
    assert script("return document.querySelectorAll('img').length") == 0
    assert EVIL in script("return document.body.textContent")
    assert script("return document.querySelectorAll('#run .arrow').length") == 15
    assert logged(browser, "browser") == []
    assert [one for one in requests(browser) if not one.startswith(("data:", "blob:"))] == [path.as_uri()]


@pytest.mark.parametrize(("words", "told"), [(("autograd",), "logs are of rref"), (("rref",), "without logs")])
def test_a_folder_that_cannot_be_shown_is_refused(
    farref: Farref, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    result = farref("explore", *words, str(tmp_path), "--no-browser")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert told in result.stderr


def test_of_a_long_run_what_is_near_is_drawn(browser: Chrome, farref: Farref, tmp_path: Path) -> None:
    header = {"format": "farref-log/1", "subject": "rref", "worker": 0, "workers": ["A"]}
    events = [{"worker": 0, "number": n, "event": "create local", "rref": f"0.{n}"} for n in range(1, 501)]
    (tmp_path / "a.jsonl").write_bytes(content([header, *events]))
    assert farref("explore", "rref", str(tmp_path), "-o", str(tmp_path / "page.html")).exit_code == 0
    script = opened(browser, (tmp_path / "page.html").as_uri())
    settle(browser, "document.documentElement.dataset.ready === 'yes'")
    assert script("return document.querySelectorAll('#run li').length") == 81
    script("[...document.querySelectorAll('#run > button')].at(-1).click()")
    settle(browser, "document.getElementById('where').textContent === 'step 80 of 500'")
    assert script("return document.querySelectorAll('#run li').length") == 161
