"""What can be launched, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from farref.impl import RpcError, launch, rpc_sync
from tests.impl import far_objects


def test_a_world_within_a_world_is_refused_and_the_first_goes_on(place: Path) -> None:
    with launch(1, allow=["tests.impl.far_objects"]):
        with pytest.raises(RpcError, match="already initialised"), launch(1):
            pass
        assert rpc_sync("worker1", far_objects.add, [0, 1]) == 1
        with pytest.raises(RpcError, match="already initialised"):
            rpc_sync("worker1", far_objects.launch_again)
        assert rpc_sync("worker1", far_objects.add, [1, 1]) == 2
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"workers": 0}, "1 or more"),
        ({"workers": "worker1"}, "a list of their names"),
        ({"workers": 1, "allow": "tests.impl.far_objects"}, "allow is a list"),
        ({"workers": 1, "transport": "gloo"}, "'unix' and 'tcp'"),
    ],
)
def test_what_cannot_be_launched_is_refused_at_once(given: dict[str, Any], told: str, place: Path) -> None:
    with pytest.raises(RpcError, match=told), launch(**given):
        pass
    assert not list(place.iterdir())
