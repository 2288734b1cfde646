"""The command line, called within the test's own process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from farref.cli import cli
from tests.farref.browser import hidden_browser

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

Farref = Callable[..., Result]
Traced = Callable[..., bytes]


@pytest.fixture(scope="session")
def farref() -> Farref:
    """Call farref with some words."""

    def call(*words: str) -> Result:
        return CliRunner().invoke(cli, list(words))

    return call


@pytest.fixture(scope="session")
def traced(farref: Farref, tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """Give what `farref check --save` writes when PyTorch's rules break; each is searched for once."""
    path = tmp_path_factory.mktemp("traces") / "trace.json"

    @cache
    def content(*words: str) -> bytes:
        result = farref("check", "rref", "--profile", "torch", *words, "--quiet", "--save", str(path))
        assert result.exit_code == 1, result.output
        return path.read_bytes()

    return content


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C be heard as in a process of its own, also where the tests are run by workers that ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def saved(traced: Traced, tmp_path: Path) -> Path:
    """A file with the trace of claim N1, to be read or damaged."""
    path = tmp_path / "n1.json"
    path.write_bytes(traced("--claim", "N1"))
    return path


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser that nobody sees."""
    with hidden_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
