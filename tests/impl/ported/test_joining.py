"""A program that was written for PyTorch joins a world with PyTorch's parameters, and leaves it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farref.impl import (
    BackendType,
    RpcError,
    RpcTimeout,
    Settings,
    TensorPipeRpcBackendOptions,
    autograd,
    get_worker_info,
    init_rpc,
    is_available,
    launch,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)
from farref.impl.api import current
from tests.impl.far import references as far

ALLOWED = Settings(allowed_modules=(far.__name__,))


def test_worlds_can_be_made_here() -> None:
    assert is_available()
    assert autograd.is_available()


@pytest.mark.parametrize(
    "join",
    [
        lambda place: init_rpc("a", rank=0, world_size=1, directory=place),
        lambda place: init_rpc("a", 0, 1, directory=place),
        lambda place: init_rpc("a", 0, world_size=1, directory=place),
        lambda place: init_rpc("a", None, 0, 1, Settings(), directory=place),
        lambda place: init_rpc("a", BackendType.TENSORPIPE, 0, 1, directory=place),
        lambda place: init_rpc(
            "a", rank=0, world_size=1, rpc_backend_options=TensorPipeRpcBackendOptions(init_method=f"file://{place}")
        ),
    ],
    ids=["by name", "older", "older and by name", "by place", "with a backend", "file"],
)
def test_a_world_of_one_is_joined_with_pytorchs_parameters_and_with_ours(
    join: Callable[[Path], Any], tmp_path: Path
) -> None:
    assert join(tmp_path).name == "a"
    assert (get_worker_info().id, current().settings.rpc_timeout) == (0, 60.0)
    assert shutdown().is_empty()


def test_the_environment_says_where_to_meet_and_who_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FARREF_DIRECTORY": str(tmp_path), "RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    options = TensorPipeRpcBackendOptions(num_worker_threads=8, rpc_timeout=0.25)
    init_rpc("a", rpc_backend_options=options, settings=ALLOWED)
    assert current().settings == Settings(rpc_timeout=0.25, allowed_modules=(far.__name__,))
    assert rpc_sync("a", far.name) == "a"
    shutdown()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {},
            "give directory=..., or set FARREF_DIRECTORY, or init_method='file://...'; or at an address: .*; not 'env://'",
        ),
        (
            {"rpc_backend_options": TensorPipeRpcBackendOptions(init_method="mpi://localhost:1")},
            r"or at an address: init_method='tcp://host:port', or set MASTER_ADDR and MASTER_PORT; not 'mpi://localhost:1'",
        ),
        ({"rpc_backend_options": 3}, r"rpc_backend_options are TensorPipeRpcBackendOptions\(...\), or Settings"),
        ({"backend": "GLOO"}, "there is no backend 'GLOO'"),
        ({"rank": -1}, "give rank and world_size, or set RANK and WORLD_SIZE: 'RANK' is not set"),
        ({"world_size": None}, "'WORLD_SIZE' is not set"),
    ],
)
def test_what_cannot_be_joined_says_what_to_give(
    given: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FARREF_DIRECTORY", "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RpcError, match=told):
        init_rpc("a", **{"rank": 0, "world_size": 1, **given})


def test_there_are_no_devices() -> None:
    with pytest.raises(RpcError, match="there are no devices here"):
        TensorPipeRpcBackendOptions(devices=[0])


def test_a_number_in_the_environment_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "first")
    with pytest.raises(RpcError, match="RANK and WORLD_SIZE are numbers"):
        init_rpc("a", world_size=1, directory=tmp_path)


def test_a_wait_for_a_value_on_its_owner_ends_with_the_time_of_all_calls(tmp_path: Path) -> None:
    settings = Settings(rpc_timeout=0.1, allowed_modules=(far.__name__,))
    init_rpc("a", rank=0, world_size=1, directory=tmp_path, settings=settings)
    far.hold_back()
    held = remote("a", far.held_back, ["value"])
    with pytest.raises(RpcTimeout, match=r"within 0\.1 s"):
        held.local_value()
    far.release()
    assert held.local_value(timeout=0) == "value"
    shutdown()


def test_0_is_for_ever_when_one_joins_and_when_one_leaves() -> None:
    with launch(["A"], allow=[far.__name__], rpc_timeout=20, init_timeout=0):
        running = rpc_async("A", far.slow, [0.3, "done"])
        assert shutdown(timeout=0).is_empty()
        assert running.wait() == "done"
