"""The page of all judged systems in a real browser: small enough, asks nobody, readable on a desk and on a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.farref.browser import logged, opened, requests, set_width, settle
from tests.pages.matrix import html, reports

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

SIZE_MAX = 3_000_000


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "matrix.html"
    path.write_text(html(), "utf-8")
    return path.as_uri()


def shown(script: Any) -> list[str]:
    rows: list[str] = script("return rows.filter(row => row.checkVisibility()).map(row => row.id)")
    return rows


def test_the_page_is_small_asks_nobody_and_complains_of_nothing(browser: Chrome, address: str) -> None:
    assert Path(address.removeprefix("file://")).stat().st_size <= SIZE_MAX
    script = opened(browser, address)
    script("document.getElementById('open-all').click()")
    assert requests(browser) == [address]
    assert logged(browser, "browser") == []


@pytest.mark.parametrize("width", [1280, 400])
def test_it_can_be_read(browser: Chrome, address: str, width: int) -> None:
    set_width(browser, width)
    script = opened(browser, address)
    assert script("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    small = "[...document.querySelectorAll('.row > summary *, .heads *')].filter(e => e.checkVisibility()"
    assert script(f"return {small} && parseFloat(getComputedStyle(e).fontSize) < 12).length") == 0
    named = script("return document.querySelector('#R16 .who').getBoundingClientRect().width")
    assert (named > 1) == (width == 400), "where the columns have no heads each verdict names its backend"
    out = "[...document.querySelectorAll('#R16 .cell')].filter(c => c.getBoundingClientRect().right > innerWidth)"
    assert script(f"return {out}.length") == 0


def test_every_verdict_that_was_reached_leads_to_its_story(browser: Chrome, address: str) -> None:
    script = opened(browser, address)
    cells = script("return document.querySelectorAll('.row > summary .cell').length")
    rows = len(shown(script))
    assert cells == rows * len(reports())
    lost = "links.filter(a => !document.getElementById(decodeURIComponent(a.hash.slice(1))))"
    assert script(f"const links = [...document.querySelectorAll('a.cell')]; return {lost}.length") == 0
    plain = "[...document.querySelectorAll('.row > summary span.cell')].map(c => c.className)"
    assert set(script(f"return {plain}")) <= {"cell v-untested"}, "no check looks at the clause"


def test_a_finding_is_two_clicks_away(browser: Chrome, address: str) -> None:
    script = opened(browser, address)
    script("document.querySelector('[name=differs]').click()")
    differing = shown(script)
    assert "R2.owners" in differing
    assert len(differing) < 80
    script("document.querySelector('#R2\\\\.owners a.v-expected-fail').click()")
    settle(browser, "document.querySelector('.finding:target') !== null")
    told = script("return document.querySelector('.finding:target').innerText")
    assert "rpyc" in told
    assert "here the clause was broken" in told
    assert "rpyc_two_owners.py" in told
