"""The page of a two-backend matrix in a real browser: it asks nobody, complains of nothing, and can be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import Result

from farref.properties.conformance.kit.document import Level, Verdict
from farref.rendering.conformance.html import to_html
from tests.farref.browser import logged, opened, requests, set_width, settle
from tests.farref.conformance import EVERY, TOY, WRONG, report, row

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

Farref = Callable[..., Result]
WIDTHS = (1280, 400)


@pytest.fixture(scope="module")
def matrix(farref: Farref, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of two backends, one of which has mistakes."""
    path = tmp_path_factory.mktemp("page") / "matrix.html"
    asked = ("--only", "R16", "--only", "R19", "--only", "R20", "--runs", "1", "--quiet")
    result = farref("conform", "--backend", TOY, "--backend", WRONG, *asked, "-o", str(path))
    assert result.exit_code == 1, result.output
    return path.as_uri()


def shown(script: Any) -> list[str]:
    rows: list[str] = script(
        "return [...document.querySelectorAll('.row')].filter(r => r.checkVisibility()).map(r => r.id)"
    )
    return rows


def filter_by(script: Any, **fields: Any) -> None:
    for name, value in fields.items():
        script("const f = document.forms[0].elements[arguments[0]]; f.value = arguments[1];"
               "f.dispatchEvent(new Event('input', {bubbles: true}))", name, value)  # fmt: skip


def test_the_page_asks_nobody_and_complains_of_nothing(browser: Chrome, matrix: str) -> None:
    script = opened(browser, matrix)
    script("document.getElementById('open-all').click()")
    assert requests(browser) == [matrix]
    assert logged(browser, "browser") == []


def test_every_row_is_there_with_a_verdict_of_each_backend(browser: Chrome, matrix: str) -> None:
    script = opened(browser, matrix)
    assert {"R16", "R19", "R20", "R20.parked"} <= set(shown(script))
    cells = script("return [...document.querySelectorAll('#R16 > summary .cell')].map(c => c.textContent.trim())")
    assert cells == ["toy: ✓ pass", "wrong <i>&amp;: ✗ fail 1 of 1"] or cells == [
        "toy: ✓ pass",
        "wrong <i>&amp;: ✗ fail",
    ]


def test_filters(browser: Chrome, matrix: str) -> None:
    script = opened(browser, matrix)
    everything = shown(script)
    filter_by(script, text="NEVER heard of it")
    assert shown(script) == ["R19"]
    filter_by(script, text="nothing like this")
    assert shown(script) == []
    assert script("return document.getElementById('nothing').hidden") is False
    script("document.getElementById('reset-too').click()")
    assert shown(script) == everything
    script("for (const box of document.querySelectorAll('[name=verdict]')) if (box.value !== 'fail') box.click()")
    assert shown(script) == ["R16", "R19"]


def test_only_one_clause(browser: Chrome, matrix: str) -> None:
    script = opened(browser, matrix)
    filter_by(script, clause="R16")
    assert shown(script)
    assert all(one.partition(".")[0] == "R16" for one in shown(script))


def test_only_what_differs_between_backends(browser: Chrome, matrix: str) -> None:
    script = opened(browser, matrix)
    script("document.querySelector('[name=differs]').click()")
    assert shown(script) == ["R16", "R19"]
    headings = (
        "return [...document.querySelectorAll('.group')].filter(g => g.checkVisibility()).map(g => g.textContent)"
    )
    assert script(headings) == ["Broken"]


def test_a_verdict_leads_to_its_story(browser: Chrome, matrix: str) -> None:
    script = opened(browser, matrix)
    for _ in range(2):  # also when the address is there already
        script("document.getElementById('R16').open = false")
        script("document.querySelectorAll('#R16 > summary a.cell')[1].click()")
        settle(browser, "document.getElementById('R16').open")
        story = "document.querySelector('#R16 .finding:nth-of-type(2)')"
        assert script(f"return {story}.matches(':target')")
        settle(browser, f"{story}.getBoundingClientRect().top >= 0 && {story}.getBoundingClientRect().top < 900")


def test_levels(browser: Chrome, tmp_path: Path) -> None:
    path = tmp_path / "levels.html"
    path.write_text(to_html([report(row("R1", Verdict.PASS), row("R2", Verdict.PASS, Level.MAY))]), "utf-8")
    script = opened(browser, path.as_uri())
    filter_by(script, level="may")
    assert shown(script) == ["R2"]


def test_a_row_opens_by_keyboard_and_shows_all_there_is(browser: Chrome, matrix: str) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    script = opened(browser, matrix)
    assert script("return document.querySelector('#R16 .body').checkVisibility()") is False
    browser.find_element(By.CSS_SELECTOR, "#R16 > summary").send_keys(Keys.ENTER)
    assert script("return document.getElementById('R16').open") is True
    body = browser.find_element(By.CSS_SELECTOR, "#R16 .body")
    assert "it gives '</script><b>8', not 7" in body.text
    assert "here the clause was broken" in body.text
    assert "A user shares with a user" in body.text
    assert f"farref conform --backend {WRONG} --only R16" in body.text
    assert script("return document.querySelector('#R16 svg').getBoundingClientRect().height") > 50
    browser.find_element(By.CSS_SELECTOR, "#R16 .script > summary").click()
    assert "workers=['A', 'B', 'C'], options={}" in body.text


def test_a_link_leads_to_its_row(browser: Chrome, matrix: str) -> None:
    script = opened(browser, f"{matrix}#R20.parked")
    assert script("return document.getElementById('R20.parked').open") is True
    script("location.hash = '#R16'")
    assert script("return new Promise(done => setTimeout(() => done(document.getElementById('R16').open)))") is True


def test_what_is_to_be_run_can_be_copied(browser: Chrome, matrix: str) -> None:
    script = opened(browser, f"{matrix}#R16")
    said = script(
        "const button = document.querySelector('#R16 .copy');"
        "return new Promise(done => {"
        "  new MutationObserver(() => done(button.textContent)).observe(button, { childList: true });"
        "  button.click();"
        "})"
    )
    assert said in ("Copied", "Selected")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_runs_out_of_the_page(browser: Chrome, matrix: str, width: int) -> None:
    set_width(browser, width)
    script = opened(browser, matrix)
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert script(overflow) <= 0
    script("for (const one of document.querySelectorAll('details')) one.open = true")
    assert script(overflow) <= 0
    small = script("return [...document.querySelectorAll('.row summary *')].filter(e => e.checkVisibility()"
                   " && parseFloat(getComputedStyle(e).fontSize) < 12).length")  # fmt: skip
    assert small == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_whatever_is_written_in_a_report_stays_text(browser: Chrome, tmp_path: Path, width: int) -> None:
    path = tmp_path / "evil.html"
    path.write_text(to_html([EVERY, report(row("A1", Verdict.FAIL), backend="x" * 80)]), "utf-8")
    set_width(browser, width)
    script = opened(browser, path.as_uri())
    script("for (const one of document.querySelectorAll('details')) one.open = true")
    assert logged(browser, "browser") == []
    assert requests(browser) == [path.as_uri()]
    assert script("return document.scripts.length") == 1
    assert script("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
