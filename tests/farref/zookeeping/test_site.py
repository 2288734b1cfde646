"""The documents as a site: every link leads somewhere, nothing comes from elsewhere, and the runs can be walked through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

from tests.farref.browser import hidden_browser, logged, opened, requests, settle
from tests.pages import site

ASSETS = {"script": "src", "img": "src", "iframe": "src", "link": "href"}
"""What a browser fetches by itself."""


class Targets(HTMLParser):
    """Lists where the links of a page lead, and what a browser fetches with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.assets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and ASSETS.get(tag) == name and ("rel", "canonical") not in attrs:
                self.assets.append(value)
            elif value and tag == "a" and name == "href":
                self.links.append(value)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site. A link between documents that leads nowhere ends the making of it."""
    pytest.importorskip("mkdocs", reason="the site is not made: mkdocs-material is missing (pip install '.[docs]')")
    place = tmp_path_factory.mktemp("site")
    site.build(place)
    return place


def pages(built: Path) -> Iterator[tuple[Path, Targets]]:
    for path in built.rglob("*.html"):
        if path.name not in ("404.html", "n1.html", "d5.html"):
            yield path, Targets(path.read_text("utf-8"))


def test_every_document_is_in_it(built: Path) -> None:
    for document in site.documents():
        folder = document.parent if document.name == "README.md" else document.with_suffix("")
        assert (built / folder / "index.html").is_file(), document


def test_every_link_leads_somewhere(built: Path) -> None:
    lost = [
        (str(page.relative_to(built)), link)
        for page, found in pages(built)
        for link in (*found.links, *found.assets)
        if not urlsplit(link).scheme and not leads(built, page, unquote(urlsplit(link).path))
    ]
    assert lost == []


def leads(built: Path, page: Path, path: str) -> bool:
    target = (page.parent / path).resolve() if path else page
    return target.is_relative_to(built) and (target.is_file() or (target / "index.html").is_file())


def test_nothing_comes_from_elsewhere(built: Path) -> None:
    for page, found in pages(built):
        assert [one for one in found.assets if urlsplit(one).scheme or one.startswith("//")] == [], page


def test_nothing_is_written_twice() -> None:
    """The page of runs is the only one that has text of its own, and it is short."""
    assert len(site.runs_page().splitlines()) < 20
    named = re.findall(r"'([\w/]+\.md)'", str(site.NAVIGATION))
    assert {Path(one) for one in named} - {*site.documents()} == {Path("runs.md")}


def test_the_runs_are_shown_in_a_browser(built: Path, tmp_path: Path) -> None:
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(quiet, directory=str(built)))
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    with hidden_browser(tmp_path / "profile") as browser:
        opened(browser, f"http://127.0.0.1:{server.server_port}/runs/")
        browser.execute_script("for (const one of document.querySelectorAll('iframe')) one.loading = 'eager'")
        for number in range(len(site.RUNS)):
            frame = f"document.querySelectorAll('iframe')[{number}].contentDocument"
            settle(browser, f"{frame}?.documentElement.dataset.ready === 'yes'")
        assert all(one.startswith(("http://127.0.0.1", "data:", "blob:")) for one in requests(browser))
        assert [one for one in logged(browser, "browser") if one["level"] == "SEVERE"] == []
    server.shutdown()
