"""The adapters of the backends that have a name: each verb does what it says, and nothing is left behind."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from farref.properties.conformance.conversation.session import OperationFailed, Session
from farref.properties.conformance.kit.programs import gradients_of
from farref.properties.conformance.kit.world import World

WORKERS = ("A", "B", "C")


def children_of(pid: int) -> list[int]:
    """List every process that descends from one."""
    parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        below = [child for child, parent in parents.items() if parent == one]
        found += below
        todo += below
    return found


def _parent(path: Path) -> int:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.fixture(scope="module", params=["simulated", "processes", "torch", "torch_faulty"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    if request.param.startswith("torch"):
        pytest.importorskip("torch")
    before = set(children_of(os.getpid()))
    place = f"farref.properties.conformance.adapters.{request.param}.adapter:Adapter"
    session = Session([sys.executable, "-m", "farref.properties.conformance.conversation.host", place])
    yield session
    session.close()
    assert set(children_of(os.getpid())) <= before


@pytest.fixture
def world(session: Session) -> Iterator[World]:
    """Three workers, which are gone afterwards."""
    world = World(session, WORKERS, 0)
    world.start(60)
    yield world
    for worker in WORKERS:
        with suppress(OperationFailed):
            world.fault("kill", worker)
    world.stop()
    assert not workers_of(session)


def workers_of(session: Session) -> list[int]:
    """List the workers: they are the children of the server that forks them, which is a child of the adapter."""
    host = session._process.pid
    return [one for one in children_of(host) if _parent(Path("/proc", str(one))) != host]


def needs(world: World, *capabilities: str) -> None:
    """Skip a test of what the backend cannot do."""
    missing = set(capabilities) - world.session.identity.capabilities
    if missing:
        pytest.skip(f"the backend does not declare {', '.join(sorted(missing))}")


def test_references_are_made_shared_fetched_and_dropped(world: World) -> None:
    world.create("A", "x", "B", "echo", [7])
    assert world.fetch("A", "x") == 7
    world.share("A", "x", "C")
    assert world.fetch("C", "x") == 7
    world.settles("B", owned=1, forks=2)
    world.drop("A", "x")
    world.drop("C", "x")
    world.empties()


def test_functions_do_what_the_kit_says(world: World) -> None:
    assert world.call("A", "B", "count", "key") == 1
    assert world.call("C", "B", "count", "key") == 2
    world.create("A", "x", "B", "slow", [0.1, 5])
    assert world.call("A", "B", "value_of", {"rref": "x"}) == 5
    assert world.call("A", "C", "hold", {"rref": "x"}, 0.01) is True
    assert world.call("A", "C", "later", {"rref": "x"}, 0.01) == 5


def test_functions_may_call_others(world: World) -> None:
    needs(world, "function.nest", "function.pass_on")
    assert world.call("A", "B", "nest", 3, "B", "A") == 3
    world.create("A", "x", "B", "slow", [0.1, 5])
    assert world.call("A", "C", "pass_on", {"rref": "x"}, "B") == 5


@pytest.mark.parametrize(
    ("function", "args", "kinds"),
    [
        ("fail", ["no"], ["error"]),
        ("missing", [1], ["refused", "error"]),
        ("echo", [{"unwritable": True}], ["error"]),
        ("echo", [{"unreadable": True}], ["refused", "error"]),
    ],
)
def test_failures_are_told_and_kill_nobody(world: World, function: str, args: list[object], kinds: list[str]) -> None:
    with pytest.raises(OperationFailed) as failed:
        world.call("A", "B", function, *args)
    assert failed.value.kind in kinds
    assert world.call("A", "B", "echo", 1) == 1


def test_a_killed_worker_makes_what_names_it_fail_and_nothing_hang(world: World) -> None:
    pending = world.begin_call("A", "B", "slow", 30, 1)
    world.fault("kill", "B")
    for doomed in (pending, world.begin_call("A", "B", "echo", 1), world.begin_call("B", "A", "echo", 1)):
        with pytest.raises(OperationFailed) as failed:
            doomed.wait()
        assert failed.value.kind == "dead"
    assert world.call("A", "C", "echo", 1) == 1


def test_a_paused_worker_goes_on(world: World) -> None:
    needs(world, "fault.pause")
    world.fault("pause", "B", seconds=0.3)
    assert world.call("A", "B", "echo", 1) == 1


def test_a_worker_that_does_not_leave_is_killed(world: World) -> None:
    needs(world, "fault.pause")
    world.fault("pause", "B", seconds=60)
    with suppress(OperationFailed):  # it may say so; nothing may be left
        world.stop(20)
    assert not workers_of(world.session)


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory whose path leaves room for the names of sockets, as that of `tmp_path` does not."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


def test_what_is_put_down_leaves_no_files(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(short_path))
    place = "farref.properties.conformance.adapters.processes.adapter:Adapter"
    session = Session([sys.executable, "-m", "farref.properties.conformance.conversation.host", place])
    World(session, WORKERS, 0).start(60)
    assert [*short_path.rglob("world-*")]
    session.put_down()
    assert not [*short_path.iterdir()]


def test_faults_can_be_chosen(world: World) -> None:
    needs(world, "fault.lose")
    world.fault("lose", "C", message="ForkRequest", times=1)
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    assert world.fetch("C", "x") == 7


def test_a_second_life_is_in_the_same_processes(world: World) -> None:
    needs(world, "restart")
    world.stop()
    world.start(60, again=True)
    before = workers_of(world.session)
    world.stop()
    world.start(60)
    assert workers_of(world.session) == before
    assert world.call("A", "B", "echo", 1) == 1


def test_a_world_can_be_stopped_and_started(world: World) -> None:
    assert world.stop() == []
    world.start(60)
    world.create("A", "x", "B", "echo", [7])
    assert world.fetch("A", "x") == 7


STEPS: list[dict[str, Any]] = [
    {"leaf": "p", "on": "A", "value": 2},
    {"leaf": "q", "on": "B", "value": 3},
    {"let": "y", "on": "B", "operation": "mul", "args": ["p", "q"]},
    {"let": "v", "on": "C", "through": ["B"], "operation": "mul", "args": ["y", 2]},
    {"remote": "r", "on": "B", "operation": "mul", "args": ["v", "q"]},
    {"let": "f", "fetch": "r"},
    {"let": "z", "operation": "mul", "args": ["f", 5]},
]


@pytest.mark.parametrize("mode", ["fast", "smart"])
def test_a_program_gives_the_gradients_of_the_oracle(world: World, mode: str) -> None:
    needs(world, "backward", "optimizer", mode)
    wanted = gradients_of(STEPS, ["z"])
    world.backward("A", "c", STEPS, ["z"], mode=mode, retain=True)
    assert world.gradients("A", "c") == {"p": wanted["p"]}
    assert world.gradients("B", "c") == {"q": wanted["q"]}
    world.backward("A", "c", [], ["z"], mode=mode)
    assert world.gradients("B", "c") == {"q": 2 * wanted["q"]}
    world.backward("A", "c", [{"optimize": ["p", "q"], "rate": 1}])
    assert (world.fetch("A", "p"), world.fetch("B", "q")) == (2 - 2 * wanted["p"], 3 - 2 * wanted["q"])
    world.drop("A", "c")
    world.empties()


@pytest.mark.parametrize(("operation", "roots"), [("fail", []), ("trap", ["y"])])
def test_a_program_can_fail_forward_and_backward(world: World, operation: str, roots: list[str]) -> None:
    needs(world, "backward")
    doomed = {"let": "y", "on": "B", "operation": operation, "args": ["p"]}
    with pytest.raises(OperationFailed) as failed:
        world.backward("A", "c", [STEPS[0], doomed], roots)
    assert failed.value.kind == "error"


def test_a_name_that_is_given_again_lets_go_of_what_it_stood_for(world: World) -> None:
    needs(world, "create", "share", "drop", "probe", "function.echo")
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.share("A", "x", "C")
    world.drop("C", "x")
    world.drop("A", "x")
    world.empties()
