"""The worlds that are walked in."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from farref.exploring.guide import Guide
from farref.exploring.opening import document
from farref.exploring.server import ExplorerServer
from farref.exploring.shape import Document
from farref.exploring.world import OpenWorld
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace, decode
from tests.farref.conftest import Traced


@pytest.fixture(scope="package")
def n1(traced: Traced) -> Trace:
    """The shortest run to N1."""
    return decode(traced("--claim", "N1"))


@pytest.fixture(scope="package")
def guide(n1: Trace) -> Guide:
    """The world of N1."""
    return Guide(n1.bounds, PROTOCOLS["rref"].rules_of("torch", None))


@pytest.fixture(scope="package")
def server(n1: Trace, guide: Guide) -> Iterator[ExplorerServer]:
    """A server of that world."""
    with ExplorerServer(OpenWorld(guide, document(guide, n1))) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


@pytest.fixture(scope="package")
def part(n1: Trace, guide: Guide) -> Document:
    """The document of that world with the states around the run; it takes some seconds."""
    return document(guide, n1, is_part=True)
