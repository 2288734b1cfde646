"""What PyTorch's own tests say of beginning and ending, said of ours (spec/parity.md)."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from farref.impl import (
    NotRunning,
    ReferenceRefused,
    RpcError,
    RpcTimeout,
    RRef,
    Settings,
    get_debug_info,
    get_worker_info,
    init_rpc,
    launch,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)
from farref.impl.worker import leaving
from tests.impl.far import objects as far_objects
from tests.impl.far import references as far

ALLOWED = ["tests.impl.far.references", "tests.impl.far.objects"]
SETTINGS = Settings(allowed_modules=tuple(ALLOWED))


def alone(directory: Path) -> None:
    directory.chmod(0o700)
    init_rpc("alone", 0, 1, directory=directory, settings=SETTINGS)


def test_a_world_of_one(tmp_path: Path) -> None:
    alone(tmp_path)
    assert get_worker_info().name == "alone"
    assert rpc_sync("alone", far.add, [1, 2]) == 3
    assert rpc_async("alone", far.add, [1, 2]).wait() == 3
    assert remote("alone", far.add, [1, 2]).to_here() == 3
    assert rpc_sync("alone", far.fetch, [RRef(3)]) == 3
    assert shutdown().is_empty()


def test_rpc_is_initialised_once_at_a_time(tmp_path: Path) -> None:
    alone(tmp_path)
    with pytest.raises(RpcError, match="already initialised"):
        init_rpc("again", 0, 1, directory=tmp_path)
    assert shutdown().is_empty()
    with pytest.raises(NotRunning, match="not been initialised"):
        rpc_sync("alone", far.echo)
    with pytest.raises(NotRunning, match="not been initialised"):
        RRef(1)


@pytest.mark.parametrize("names", [["A", "A"], ["driver"], [""], ["a b"], ["x" * 128], ["a/b"]])
def test_names_that_are_none_or_not_unique_are_refused_at_once(names: list[str]) -> None:
    with pytest.raises(RpcError, match="name"), launch(names):
        pass


def test_a_world_that_does_not_come_together_says_who_is_missing(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(RpcTimeout, match="1 workers have not come"):
        init_rpc("a", 0, 2, directory=tmp_path, timeout=0.1)
    with pytest.raises(NotRunning):
        get_worker_info()


def test_references_after_shutdown_are_refused_and_still_say_whose_they_are() -> None:
    with launch(["A", "B"], allow=ALLOWED):
        used, own = remote("A", far.echo, [1]), RRef(1)
        assert used.to_here() == 1
        assert shutdown().is_empty()
    assert (used.owner_name(), own.owner_name()) == ("A", "driver")
    assert not used.confirmed_by_owner()
    with pytest.raises(NotRunning):
        used.to_here()
    with pytest.raises(ReferenceRefused, match="driver has left its world"):
        own.local_value()
    with pytest.raises(NotRunning):
        used.rpc_sync().anything()


def test_a_graceful_end_waits_for_what_still_runs_and_for_what_that_calls(tmp_path: Path) -> None:
    """Workers have unequal work when the block ends: functions that run, that call others, that hold references."""
    done = tmp_path / "done"
    with launch(["A", "B"], allow=ALLOWED):
        x = remote("B", far.slow, [0.2, "value"])
        rpc_async("A", far.note, [str(done), x, 0.5])
        del x
    assert done.read_text() == "value"


def test_a_local_end_waits_for_nobody() -> None:
    with launch(["A"], allow=ALLOWED):
        running = rpc_async("A", far.slow, [60])
        shutdown(graceful=False)
        with pytest.raises(NotRunning, match="left the world"):
            running.wait()


def test_an_end_is_bounded_and_says_what_is_left() -> None:
    """A peer stands still: shutting down waits for its deadline, goes on, and lists what nobody answered."""
    with launch(["A"], allow=ALLOWED, shutdown_timeout=0.3) as world:
        x = remote("A", far.echo, [1])
        assert x.to_here() == 1
        os.kill(world.pid("A"), signal.SIGSTOP)
        try:
            with pytest.warns(UserWarning, match="could not release everything"):
                left = shutdown(timeout=0.3)
        finally:
            os.kill(world.pid("A"), signal.SIGCONT)
        assert [(view.peer, view.message, view.rref) for view in left.unanswered] == [(1, "UserDelete", x.id)]


@pytest.mark.parametrize("step", ["_stop_accepting", "_drop_handles", "_together"])
def test_an_error_while_shutting_down_ends_this_worker_all_the_same(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("injected")

    for _ in range(2):
        alone(tmp_path)
        kept = RRef(1)
        with monkeypatch.context() as patch:
            patch.setattr(leaving, step, broken)
            with pytest.raises(RuntimeError, match="injected"):
                shutdown()
        with pytest.raises(NotRunning):
            get_debug_info()
        del kept
    assert not [thread for thread in threading.enumerate() if thread.name == "farref-alone"]


def test_a_parameter_server_in_a_world_of_its_own() -> None:
    with launch(["server", "one", "two"], allow=ALLOWED):
        server = remote("server", far_objects.ParameterServer, [2])
        results = [rpc_async(name, far_objects.train, [server, 3, 1.0]) for name in ("one", "two")]
        assert [list(result.wait()) for result in results] == [[-3.0] * 3] * 2
