"""What several folders of tests need."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from farref.tlc import engine as tlc
from tests.order import in_order

# Locks know who has them, and user code under one is an error; also in the workers that tests start.
os.environ.setdefault("FARREF_DEBUG", "1")

# No test is about how long something takes, and a busy machine may take its time.
settings.register_profile("farref", deadline=None)
settings.load_profile("farref")

# A shell has its background jobs ignore Ctrl-C, and all their children. Tests press it on what they start, which must hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what mostly waits, and beside it with what computes for long."""
    items[:] = in_order(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def pytest_collection_finish() -> None:
    """Spare all that was imported and collected the search for garbage: many tests ask for one, and each took 0.2 s."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def tlc_is_here() -> Iterator[None]:
    """Skip what needs TLC where it is not; where it is, spare short runs the slower of Java's two compilers."""
    try:
        tlc.find_tlc()
    except tlc.TlcUnavailable as missing:
        pytest.skip(f"TLC tests skipped: {missing}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
        yield
