"""Workers as Ray actors. Skipped where Ray is not installed: `pip install '.[ray]'`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from farref.impl import RpcError, get_debug_info, remote, rpc_sync
from farref.impl.ray_actors import on_ray
from tests.impl.far import references as far
from tests.impl.settling import eventually, is_settled, pid_of

ROOT = Path(__file__).parents[2]
FAR = ["tests.impl.far.references"]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Begin Ray on this machine, with what a test needs of it."""
    ray = pytest.importorskip("ray", reason="Ray is not installed here: pip install '.[ray]'")
    ray.init(
        num_cpus=1, log_to_driver=False, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}}
    )
    yield ray
    ray.shutdown()


def test_actors_are_workers_and_call_each_other(ray: Any) -> None:
    with on_ray(["A", "B"], allow=FAR, init_timeout=120) as actors:
        assert sorted(actors) == ["A", "B"]
        assert ray.get(actors["A"].name.remote()) == "A"
        at_a = remote("A", far.echo, [7])
        assert rpc_sync("B", far.pass_on, [at_a, "A"]) == 7
        del at_a
        eventually(lambda: is_settled(["A", "B"]))


def test_R44_an_actor_that_is_killed_comes_back_as_a_new_worker(ray: Any) -> None:  # noqa: ARG001
    with on_ray(["A", "B"], allow=FAR, init_timeout=120):
        before = rpc_sync("A", far.pid)
        os.kill(before, signal.SIGKILL)
        eventually(lambda: pid_of("A") not in (None, before), 120)
        at_a = remote("A", far.echo, [7])
        assert rpc_sync("B", far.pass_on, [at_a, "A"]) == 7
        assert get_debug_info().dead == (1,)
        del at_a
        eventually(lambda: is_settled(["A", "B"]))


def test_before_ray_has_begun_an_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed here: pip install '.[ray]'")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(RpcError, match=r"call ray\.init\(\) first"), on_ray(1):
        pass


def test_without_ray_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RpcError, match=r"pip install '\.\[ray\]'"), on_ray(1):
        pass


@pytest.mark.usefixtures("ray")
def test_the_example_runs_on_ray() -> None:
    assert run("ray") == "2 workers counted 18 words; 'a' 3 times\n"


def run(*words: str) -> str:
    command = [sys.executable, "-m", "examples.anywhere", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
