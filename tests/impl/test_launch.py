"""What can be launched, and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farref.impl import NotRunning, ReferenceRefused, RpcError, RRef, launch, remote, rpc_sync
from tests.impl.far import objects as far_objects


def test_a_world_within_a_world_is_refused_and_the_first_goes_on(place: Path) -> None:
    with launch(1, allow=["tests.impl.far.objects"]):
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
        ({"workers": []}, "1 or more"),
        ({"workers": 1.5}, "1 or more"),
        ({"workers": "worker1"}, "a list of their names"),
        ({"workers": [1]}, "1 is no name"),
        ({"workers": 1, "allow": "tests.impl.far.objects"}, "allow is a list"),
        ({"workers": 1, "allow": ["nosuchmodule"]}, "'nosuchmodule' cannot"),
        ({"workers": 1, "allow": ["tests.impl.nosuchmodule"]}, "'tests.impl.nosuchmodule' cannot"),
        ({"workers": 1, "allow": ["nosuchmodule.inside"]}, "'nosuchmodule.inside' cannot"),
        ({"workers": 1, "transport": "gloo"}, "'unix' and 'tcp'"),
    ],
)
def test_what_cannot_be_launched_is_refused_at_once(given: dict[str, Any], told: str, place: Path) -> None:
    with pytest.raises(RpcError, match=told), launch(**given):
        pass
    assert not list(place.iterdir())


@pytest.mark.parametrize("option", ["rpc_timeout", "init_timeout", "shutdown_timeout"])
def test_a_world_waits_for_a_time_that_is_none_in_no_call(option: str, place: Path) -> None:
    given: dict[str, Any] = {option: -1}
    begun = False
    with pytest.raises(ValueError, match="a timeout is a number of seconds"), launch(1, **given):
        begun = True
    assert not begun
    assert not list(place.iterdir())


def test_what_a_reference_referred_to_is_gone_with_its_world() -> None:
    with launch(1, allow=["tests.impl.far.objects"]):
        theirs, mine = remote("worker1", far_objects.add, [1, 2]), RRef(1)
    told = "driver has left its world: what its RRefs referred to is gone"
    uses: list[Callable[[], object]] = [theirs.to_here, mine.to_here, mine.local_value]
    uses.append(lambda: theirs.rpc_sync().bit_length())
    for use in uses:
        with pytest.raises((NotRunning, ReferenceRefused), match=told):
            use()
    with launch(1, allow=["tests.impl.far.objects"]):
        for reference in (theirs, mine):
            with pytest.raises(ReferenceRefused, match=r"an argument of .* on worker1: .* of another world.* is gone"):
                rpc_sync("worker1", far_objects.add, [reference, 1])
