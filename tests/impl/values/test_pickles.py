"""With `allow_pickle` values run code as they are written and read. What it raises is the affair of one message."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from farref.impl import Cluster, RefusedCall, RefusedResult, launch, remote, rpc_sync
from tests.impl.far import unwritable as far


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    with (
        pytest.warns(UserWarning, match="allow_pickle"),
        launch(["A"], allow=[far.__name__], rpc_timeout=20, allow_pickle=True) as cluster,
    ):
        yield cluster


def test_a_pickle_that_cannot_be_read_is_refused_and_both_workers_live() -> None:
    with pytest.raises(RefusedCall, match="not here"):
        rpc_sync("A", far.echo, [far.Poisoned()])
    with pytest.raises(RefusedResult, match="not here"):
        rpc_sync("A", far.poisoned)
    with pytest.raises(RefusedResult, match="not here"):
        remote("A", far.poisoned).to_here()
    with pytest.raises(RefusedCall, match="not here"):
        remote("A", far.echo, [far.Poisoned()]).to_here()
    assert rpc_sync("A", far.echo, [1]) == 1
