"""Links that break at the worst moments, under load (R36). `python -m tests.impl.worker.breaks` is the long version."""

from __future__ import annotations

import pytest

from farref.impl.transport.streams import Transport
from tests.impl.worker.breaks import KINDS, campaign


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_R36_links_that_break_at_the_worst_moments_lose_nothing(transport: Transport) -> None:
    storm = campaign(cuts=80, seed=3, transport=transport)
    assert set(storm.cut) == set(KINDS)
