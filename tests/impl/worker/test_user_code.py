"""User code runs under no lock: finalizers may call and wait, and nobody waits for them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from farref.impl import Cluster, launch, remote, rpc_sync
from tests.impl.far import objects as far_objects
from tests.impl.settling import eventually


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    allowed = ["tests.impl.far.references", "tests.impl.far.objects"]
    with launch(["A"], allow=allowed, rpc_timeout=20) as cluster:
        yield cluster


def test_the_end_of_a_value_may_call_and_wait() -> None:
    references = [remote("A", far_objects.Finalized) for _ in range(3)]
    for reference in references:
        eventually(reference.confirmed_by_owner)
    del references, reference
    time.sleep(0.5)  # nobody calls: then it is the reader of A that hears of it
    eventually(lambda: len(rpc_sync("A", far_objects.ends)) == 3, 30.0)
    assert rpc_sync("A", far_objects.ends) == ["answered"] * 3
