"""The page of a report, as it is written: it asks nobody, what is broken stands first, and each verdict leads to its story."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from farref.properties.conformance.kit.document import Verdict
from farref.rendering.conformance.html import to_html
from farref.rendering.conformance.lines import grouped, places
from tests.farref.conformance import EVERY, report, row


class Page(HTMLParser):
    """Collects the tags of a page, and the text of those that hold code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.code: dict[str, str] = {}
        self.within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.within = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within:
            self.code[self.within] = self.code.get(self.within, "") + data


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(to_html([EVERY, report(row("R2", Verdict.PASS), row("A1.word", Verdict.FAIL), backend="second")]))


def test_the_page_asks_nobody(page: Page) -> None:
    assert [tag for tag, _ in page.tags if tag in ("script", "style", "link", "img", "iframe", "object", "embed")] == [
        "style",
        "script",
    ]
    for tag, attributes in page.tags:
        assert "src" not in attributes
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert "style" not in attributes
    links = {attributes["href"] for _, attributes in page.tags if "href" in attributes}
    assert {link for link in links if not str(link).startswith("#")} == {"https://example.org/1"}


def test_the_policy_allows_our_own_few_lines_only(page: Page) -> None:
    (policy,) = [one["content"] for tag, one in page.tags if tag == "meta" and one.get("http-equiv")]
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        digest = base64.b64encode(hashlib.sha256(page.code[tag].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in str(policy)
    assert "default-src 'none'" in str(policy)
    assert "unsafe" not in str(policy)


def test_the_page_has_every_row_once_and_no_id_twice(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    rows = [one["id"] for tag, one in page.tags if tag == "details" and one.get("class") == "row"]
    assert sorted(map(str, rows)) == sorted([*(f"R{number}" for number in range(1, len(Verdict) + 1)), "A1.word"])


def test_a_link_that_is_code_is_no_link() -> None:
    bad = report(row("R1", Verdict.EXPECTED_FAIL, link="javascript:alert(1)"))
    assert not [one for _, one in Page(to_html([bad])).tags if str(one.get("href", "")).startswith("javascript")]


def test_what_is_broken_stands_first_and_is_named_at_the_top(page: Page) -> None:
    rows = [one["id"] for tag, one in page.tags if tag == "details" and one.get("class") == "row"]
    assert rows == ["R2", "R5", "R9", "A1.word", "R3", "R4", "R1", "R6", "R7", "R8"]
    links = [str(one["href"]) for tag, one in page.tags if tag == "a"]
    contents = ["#group-broken", "#group-known", "#group-kept", "#group-not_run"]
    assert [one for one in links if one.startswith("#group-")] == contents
    told = [one.partition("%40")[0] for one in links[: links.index("#group-broken")]]
    assert told == ["#R2", "#R5", "#R9", "#R3", "#R4", "#A1.word"]


def test_each_verdict_leads_to_its_own_story(page: Page) -> None:
    places = {one["id"] for _, one in page.tags if "id" in one}
    links = [(str(one["href"]), one.get("class")) for tag, one in page.tags if tag == "a"]
    inner = {unquote(link[1:]) for link, _ in links if link.startswith("#")}
    assert inner <= places
    assert ("#A1.word%40second-1", "cell v-fail") in links


@pytest.mark.parametrize(
    ("verdicts", "differs"),
    [
        ((Verdict.PASS, Verdict.FAIL), True),
        ((Verdict.PASS, Verdict.BY_DESIGN), True),
        ((Verdict.PASS, Verdict.SKIPPED), False),
        ((Verdict.FAIL, Verdict.EXPECTED_FAIL), False),
        ((Verdict.PASS, Verdict.ERROR), False),
    ],
)
def test_backends_differ_if_one_keeps_what_another_breaks(verdicts: tuple[Verdict, ...], differs: bool) -> None:
    reports = [report(row("R1", one), backend=f"b{place}") for place, one in enumerate(verdicts)]
    (line,) = [line for lines in grouped(reports).values() for line in lines]
    assert line.differs is differs


def test_two_backends_of_one_name_have_two_places() -> None:
    twins = [report(row("R1", Verdict.PASS), backend=name) for name in ("Twin", "twin", "*", "")]
    assert len(set(places(twins))) == 4
