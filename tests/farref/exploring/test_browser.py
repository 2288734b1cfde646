"""The page in a real browser, served and as one file: step through N1, take another turn, switch a rule, send the link."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from farref.exploring.guide import Guide
from farref.exploring.opening import document
from farref.exploring.page import whole_page
from farref.exploring.server import ExplorerServer
from farref.exploring.shape import Document
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace, record_run
from tests.farref.browser import logged, opened, requests, set_width, settle

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

Script = Callable[..., Any]
R21 = "entry_waits_for_creation"
WIDTHS = (1280, 400)
EVIL = "</script><img src=x onerror=alert(1)>\"'&{{7*7}}"


@pytest.fixture(scope="package")
def alone(part: Document, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of N1 as one file."""
    path = tmp_path_factory.mktemp("page") / "n1.html"
    path.write_text(whole_page(part), "utf-8")
    return path.as_uri()


@pytest.fixture(params=["served", "alone"])
def address(request: pytest.FixtureRequest, server: ExplorerServer, alone: str) -> str:
    """The page of N1, from a server and from a disk."""
    return server.address if request.param == "served" else alone


def visit(browser: Chrome, address: str) -> Script:
    """Open a page, and wait until it is ready."""
    script: Script = opened(browser, address)
    settle(browser, "document.documentElement.dataset.ready === 'yes'")
    return script


def press(browser: Chrome, *keys: str) -> None:
    from selenium.webdriver.common.by import By

    browser.find_element(By.TAG_NAME, "body").send_keys(*keys)


def where(browser: Chrome) -> str:
    place: str = browser.execute_script("return document.getElementById('where').textContent")
    return place


def reach(browser: Chrome, place: str) -> None:
    settle(browser, f"document.getElementById('where').textContent === {json.dumps(place)}")


def text(browser: Chrome, selector: str) -> str:
    found: str = browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)
    return found


def click(browser: Chrome, selector: str) -> None:
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def assert_quiet(browser: Chrome, address: str) -> None:
    """Nothing was complained of, and nobody else was asked."""
    assert logged(browser, "browser") == []
    base = address.rpartition("/")[0]
    assert [one for one in requests(browser) if not one.startswith((base, "data:", "blob:"))] == []


def test_n1_is_stepped_through_with_the_arrow_keys(browser: Chrome, address: str, n1: Trace) -> None:
    from selenium.webdriver.common.keys import Keys

    visit(browser, address)
    assert where(browser) == "step 0 of 12"
    for number, step in enumerate(n1.steps, start=1):
        press(browser, Keys.ARROW_RIGHT)
        reach(browser, f"step {number} of 12")
        assert text(browser, "#run li.at button").lower() == f"{number} {step.text}".lower()
    assert "✗ N1 is broken for RRef x0" in text(browser, "#alerts")
    assert "for RRef x0: No second entry is made" in text(browser, "#sentences .broken")
    press(browser, Keys.ARROW_RIGHT)
    press(browser, Keys.ARROW_LEFT)
    reach(browser, "step 11 of 12")
    assert "N1 " not in text(browser, "#alerts")
    press(browser, Keys.HOME)
    reach(browser, "step 0 of 12")
    assert_quiet(browser, address)


def test_what_a_step_changed_is_marked(browser: Chrome, address: str) -> None:
    from selenium.webdriver.common.keys import Keys

    visit(browser, address)
    press(browser, Keys.ARROW_RIGHT)
    reach(browser, "step 1 of 12")
    assert "f0" in text(browser, "#state tr.new")
    assert text(browser, "#state tr.gone") == ""
    press(browser, Keys.END)
    reach(browser, "step 12 of 12")
    assert "x0" in text(browser, "#state tr.gone")


def test_another_turn_is_taken_and_the_link_leads_there_again(browser: Chrome, address: str) -> None:
    visit(browser, address)
    click(browser, "[data-key='step 5']")
    reach(browser, "step 5 of 12")
    labels = browser.execute_script(
        "return [...document.querySelectorAll('.turn:not(.taken) b')].map(b => b.textContent)"
    )
    click(browser, ".turn:not(.taken)")
    reach(browser, "step 6 of 6")
    settle(browser, "location.hash.length > 20")
    link, state = browser.current_url, text(browser, "#state")
    assert text(browser, "#run li.at button").startswith("6 ")
    assert labels
    assert_quiet(browser, address)
    visit(browser, link)
    assert where(browser) == "step 6 of 6"
    assert text(browser, "#state") == state
    assert_quiet(browser, address)


def test_the_same_link_works_served_and_alone(browser: Chrome, server: ExplorerServer, alone: str) -> None:
    visit(browser, server.address)
    click(browser, "[data-key='step 4']")
    click(browser, ".turn:not(.taken)")
    reach(browser, "step 5 of 5")
    settle(browser, "location.hash.length > 20")
    fragment, state = browser.current_url.partition("#")[2], text(browser, "#state")
    visit(browser, f"{alone}#{fragment}")
    assert where(browser) == "step 5 of 5"
    assert text(browser, "#state") == state


@pytest.mark.parametrize(("fragment", "told"), [("nonsense", "The link is damaged"), ("%00<b>", "The link is damaged")])
def test_a_link_that_says_nothing_is_told_so(browser: Chrome, alone: str, fragment: str, told: str) -> None:
    visit(browser, f"{alone}#{fragment}")
    assert told in text(browser, "#said")
    assert where(browser) == "step 0 of 12"


def test_a_link_of_another_world_is_not_followed(browser: Chrome, alone: str, tmp_path: Path) -> None:
    about = PROTOCOLS["rref"]
    other = Guide(about.bounds(workers=2, forks=1), about.sound)
    path = tmp_path / "other.html"
    path.write_text(whole_page(document(other, None, is_part=True)), "utf-8")
    visit(browser, path.as_uri())
    click(browser, ".turn")
    settle(browser, "location.hash.length > 20")
    visit(browser, f"{alone}#{browser.current_url.partition('#')[2]}")
    assert "another world" in text(browser, "#said")


def test_a_rule_is_switched_and_both_runs_stand_side_by_side(browser: Chrome, address: str) -> None:
    visit(browser, address)
    click(browser, f"#rules input[name={R21}]")
    settle(browser, "document.querySelector('#run li.switch') !== null")
    assert f"From here on {R21} (R21) is followed." in text(browser, "#run li.switch")
    assert "N1" not in browser.execute_script(
        "return [...document.querySelectorAll('#run li.broken')].at(-1)?.innerText ?? ''"
    )
    click(browser, "#last")
    settle(browser, "document.getElementById('last').disabled")
    assert "N1 " not in text(browser, "#alerts")
    click(browser, "#compare")
    settle(browser, "document.querySelector('.both') !== null")
    assert "The run before" in text(browser, ".both")
    assert (
        browser.execute_script("return document.querySelectorAll('.both .changed, .both .new, .both .gone').length") > 0
    )
    assert_quiet(browser, address)


def test_a_state_is_found(browser: Chrome, address: str) -> None:
    visit(browser, address)
    choose = (
        "const f = document.getElementById('sentence'); f.value = arguments[0]; f.dispatchEvent(new Event('change'))"
    )
    browser.execute_script(choose, "N1")
    click(browser, "#find-next")
    reach(browser, "step 12 of 12")
    browser.execute_script(choose, "early_use_waits")
    click(browser, "#find-first")
    reach(browser, "step 3 of 3")
    assert "early_use_waits turns here, 3 steps on." in text(browser, "#said")
    assert "early_use_waits" in browser.execute_script(
        "return document.querySelector('#sentences details').textContent"
    )
    assert_quiet(browser, address)


def test_what_the_file_does_not_have_is_said(browser: Chrome, alone: str) -> None:
    visit(browser, alone)
    for _ in range(12):
        click(browser, ".turns li:last-child .turn")
        settle(browser, "document.getElementById('last').disabled")
        if "states around one run only" in text(browser, "#said"):
            return
    raise AssertionError("twelve steps away from the run, and the file has them all")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_runs_out_of_the_page(browser: Chrome, address: str, width: int) -> None:
    from selenium.webdriver.common.keys import Keys

    set_width(browser, width)
    script = visit(browser, address)
    press(browser, Keys.END)
    reach(browser, "step 12 of 12")
    script("for (const one of document.querySelectorAll('details')) one.open = true")
    click(browser, "#compare")
    assert script("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    set_width(browser, WIDTHS[0])


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(browser: Chrome, alone: str) -> None:
    visit(browser, alone)
    nameless = browser.execute_script(
        "return [...document.querySelectorAll('button, input, select')].filter(e => !(e.innerText || e.labels?.length"
        " || e.getAttribute('aria-label'))).length"
    )
    assert nameless == 0
    assert browser.execute_script("return document.querySelectorAll('[tabindex]').length") == 0


def test_the_focus_stays_where_it_was(browser: Chrome, alone: str) -> None:
    visit(browser, alone)
    browser.execute_script("document.getElementById('forward').focus()")
    click(browser, "#forward")
    reach(browser, "step 1 of 12")
    assert browser.execute_script("return document.activeElement.id") == "forward"


def test_a_gradient_program_is_drawn(browser: Chrome, tmp_path: Path) -> None:
    about = PROTOCOLS["autograd"]
    claim = about.claims["D5"]
    guide = Guide(claim.bounds, about.rules_of("sound", None))
    run = record_run(claim.bounds, [next(iter(guide.turns(guide.first)))[0]])
    path = tmp_path / "graph.html"
    path.write_text(whole_page(document(guide, run, is_part=True)), "utf-8")
    visit(browser, path.as_uri())
    assert "Pair 0, tensors from B to A: gradient recorded" in text(browser, ".legend")
    click(browser, "#last")
    settle(browser, "document.querySelectorAll('.edge.underway').length === 2")
    assert_quiet(browser, path.as_uri())


@pytest.mark.parametrize("width", WIDTHS)
def test_whatever_is_written_stays_text(browser: Chrome, part: Document, tmp_path: Path, width: int) -> None:
    """Every text of a document is replaced by one that would be code, were it taken for markup."""
    names = {lane.name for lane in part.lanes}
    evil = msgspec.convert(_poisoned(msgspec.to_builtins(part), names), Document)
    path = tmp_path / "evil.html"
    path.write_text(whole_page(evil), "utf-8")
    set_width(browser, width)
    script = visit(browser, path.as_uri())
    click(browser, "#last")
    settle(browser, "document.getElementById('last').disabled")
    assert script("return document.querySelectorAll('img').length") == 0
    assert script("return document.scripts.length") == 2
    assert EVIL in script("return document.body.textContent")
    assert script("return document.title") == EVIL
    assert_quiet(browser, path.as_uri())
    set_width(browser, WIDTHS[0])


SHOWN = {"title", "text", "caption", "note", "notes", "columns", "cells"}


def _poisoned(value: Any, names: set[str], key: str = "") -> Any:
    match value:
        case dict():
            return {name: _poisoned(one, names, name) for name, one in value.items()}
        case list() | tuple():
            return [_poisoned(one, names, key) for one in value]
        case str() if key in SHOWN and value not in names:
            return EVIL
        case _:
            return value
