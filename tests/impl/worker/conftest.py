"""What tests of the worker's shell share: two workers without threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.impl.worker.unthreaded import Make, Pair, making


@pytest.fixture
def make() -> Iterator[Make]:
    """A way to make two workers, each with limits of its own."""
    with making() as make_pair:
        yield make_pair


@pytest.fixture
def pair(make: Make) -> Pair:
    """Two workers with the usual limits."""
    return make()
