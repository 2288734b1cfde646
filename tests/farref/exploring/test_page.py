"""The page of N1 that the README links to: it is what would be written today, and small."""

from __future__ import annotations

import pytest

from farref.exploring.page import document_in
from tests.pages.explored import PAGE, PICTURE, page, unpacked

PAGE_BYTES_MAX, PICTURE_BYTES_MAX = 500_000, 200_000


@pytest.fixture(scope="module")
def today() -> str:
    return page()


def test_the_page_tells_what_it_would_today(today: str) -> None:
    assert document_in(PAGE.read_text("utf-8")) == document_in(today), "run python -m tests.pages.explored"


def test_the_page_is_what_it_would_be_today(today: str) -> None:
    assert unpacked(PAGE.read_text("utf-8")) == unpacked(today), "run python -m tests.pages.explored"


def test_page_and_picture_are_small() -> None:
    assert PAGE.stat().st_size <= PAGE_BYTES_MAX
    assert PICTURE.stat().st_size <= PICTURE_BYTES_MAX
    assert PICTURE.read_bytes().startswith(b"\x89PNG")
