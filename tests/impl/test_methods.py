"""Methods have a rule as functions do: those of registered classes and of plain values, and none that reaches beyond."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farref.impl import Cluster, RefusedFunction, RRef, launch, remote, rpc_sync
from tests.impl.far import objects as far_objects
from tests.impl.far import references as far


def use(method: Any, *given: object) -> None:
    """Call a method, and wait for what comes of it."""
    made = method(*given)
    if isinstance(made, RRef):
        made.to_here()


each_owner = pytest.mark.parametrize("owner", ["A", "driver"])


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=[far.__name__, far_objects.__name__], rpc_timeout=20) as cluster:
        yield cluster


@each_owner
@pytest.mark.parametrize("method", ["tofile", "dump"])
def test_no_method_of_an_array_writes_a_file(owner: str, method: str, tmp_path: Path) -> None:
    array = remote(owner, far.echo, [np.arange(4.0)])
    for proxy in (array.rpc_sync(), array.remote()):
        with pytest.raises(RefusedFunction, match=method):
            use(getattr(proxy, method), str(tmp_path / "written"))
    assert list(tmp_path.iterdir()) == []


@each_owner
def test_a_class_that_nobody_registered_is_refused_by_name_and_told_what_to_do(owner: str, tmp_path: Path) -> None:
    path = remote(owner, far_objects.path_of, [str(tmp_path / "made")])
    with pytest.raises(RefusedFunction, match=r"mkdir of a pathlib.*@function"):
        path.rpc_sync().mkdir()
    assert list(tmp_path.iterdir()) == []


@each_owner
def test_plain_values_computing_arrays_and_allowed_classes_have_their_methods(owner: str) -> None:
    assert remote(owner, far.echo, ["text"]).rpc_sync().upper() == "TEXT"
    assert remote(owner, far.echo, [{"a": 1}]).rpc_sync().get("a") == 1
    assert remote(owner, far.echo, [np.arange(4.0)]).rpc_sync().sum() == 6.0
    assert remote(owner, far_objects.Thing, [1]).rpc_sync().get() == 1


def test_what_runs_here_has_the_same_rule() -> None:
    with pytest.raises(RefusedFunction):
        rpc_sync("A", far_objects.write_to, [RRef(np.zeros(3))])
