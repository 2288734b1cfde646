"""What the tests of ported programs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from farref.impl import Cluster
from tests.impl.settling import settle


@pytest.fixture
def settled(world: Cluster) -> Iterator[None]:
    """See that every table of a module's world becomes empty after a test."""
    yield
    settle(world.names)
