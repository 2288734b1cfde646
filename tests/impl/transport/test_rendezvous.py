"""Workers meet at an address, where rank 0 listens: no file system is shared (spec/wire.md, Z11 to Z15)."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from farref.impl import (
    RpcError,
    Settings,
    TensorPipeRpcBackendOptions,
    get_debug_info,
    init_rpc,
    remote,
    rpc_sync,
    shutdown,
)
from farref.impl.errors import WireError
from farref.impl.transport.boards import Book
from farref.impl.transport.frames import Known
from farref.impl.worker.process import current
from tests.impl.far import cuts, visitor
from tests.impl.far import references as far
from tests.impl.settling import eventually, is_settled, pid_of

ROOT = Path(__file__).parents[3]
CERTIFICATES = Path(__file__).parent / "certificates"
KEY = "a key of the tests"

Visit = Callable[..., "subprocess.Popen[str]"]


def certificates(who: str = "worker") -> str:
    return " ".join(str(CERTIFICATES / name) for name in (f"{who}.pem", f"{who}.key", "worker-authority.pem"))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARREF_KEY", KEY)


@pytest.fixture
def port() -> int:
    """Find a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def visit(port: int) -> Iterator[Visit]:
    """Start workers as processes of their own, and leave none."""
    started: list[subprocess.Popen[str]] = []

    def start(name: str, rank: int, size: int, **environment: str) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", visitor.__name__, name, str(rank), str(size), f"127.0.0.1:{port}"],
                cwd=ROOT,
                env={**os.environ, **environment},
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    with suppress(RpcError):
        shutdown(graceful=False)
    for process in started:
        process.kill()
        process.communicate()


@contextmanager
def hosted(size: int, port: int, settings: Settings | None = None) -> Iterator[None]:
    """Be rank 0 of a world, and leave it in order."""
    chosen = settings or Settings(allowed_modules=visitor.ALLOWED)
    init_rpc("host", rank=0, world_size=size, init_method=f"tcp://127.0.0.1:{port}", settings=chosen)
    yield
    shutdown()


def said_by(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=60)[1].strip()


# Meeting


@pytest.mark.parametrize("protection", ["key", "certificates", "both"])
def test_workers_meet_at_an_address_and_call_each_other(
    protection: str, port: int, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    if protection == "certificates":
        monkeypatch.delenv("FARREF_KEY")
    if protection != "key":
        monkeypatch.setenv("VISITOR_CERTIFICATES", certificates())
    processes = [visit("A", 1, 3), visit("B", 2, 3)]
    with hosted(3, port, settings=visitor.settings()):
        assert rpc_sync("A", far.add, [1, 2]) == 3
        at_a = remote("A", far.echo, [7])
        assert rpc_sync("B", far.pass_on, [at_a, "A"]) == 7, "they call each other"
        del at_a
        eventually(lambda: is_settled(["A", "B"]))
    assert [said_by(one) for one in processes] == ["", ""]


def test_the_environment_says_where_and_who_as_for_pytorch(
    port: int, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit("A", 1, 2)
    monkeypatch.delenv("FARREF_DIRECTORY", raising=False)
    told = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "RANK": "0", "WORLD_SIZE": "2"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    init_rpc("host", settings=Settings(allowed_modules=visitor.ALLOWED))
    assert rpc_sync("A", far.name) == "A"
    shutdown()


def test_options_of_pytorch_have_the_address_too(port: int) -> None:
    options = TensorPipeRpcBackendOptions(init_method=f"tcp://127.0.0.1:{port}")
    assert init_rpc("alone", rank=0, world_size=1, rpc_backend_options=options).name == "alone"
    assert shutdown().is_empty()


def test_worlds_meet_at_one_address_one_after_the_other(port: int, visit: Visit) -> None:
    for _ in range(2):
        process = visit("A", 1, 2)
        with hosted(2, port):
            assert rpc_sync("A", far.pid) == process.pid
        assert said_by(process) == ""


def test_whoever_serves_while_it_shuts_down_is_not_silent(port: int, visit: Visit) -> None:
    """As PyTorch's workers do that have nothing to do themselves: they wait in `shutdown`, for longer than silence may last."""
    visit("A", 1, 2, VISITOR_SILENCE="0.5")
    with hosted(2, port, settings=Settings(allowed_modules=visitor.ALLOWED, silence_seconds=0.5)):
        rpc_sync("host", far.slow, [2.0])
        assert rpc_sync("A", far.name) == "A"
        assert get_debug_info().dead == ()


# Coming back


@pytest.mark.waits
def test_R44_workers_that_were_killed_come_back_under_their_names(port: int, visit: Visit) -> None:
    processes = {"A": visit("A", 1, 3), "B": visit("B", 2, 3)}
    with hosted(3, port):
        assert rpc_sync("A", far.name) == "A", "it has met everybody"
        assert rpc_sync("B", far.name) == "B"
        for round_, name in enumerate(["A", "B", "A"]):
            processes[name].send_signal(signal.SIGKILL)
            processes[name].wait()
            ranks = {"A": 1, "B": 2}
            processes[name] = visit(name, ranks[name], 3)
            eventually(lambda name=name, pid=processes[name].pid: pid_of(name) == pid)  # type: ignore[misc]
            other = "A" if name == "B" else "B"
            at_other = remote(other, far.echo, [round_])
            assert rpc_sync(name, far.pass_on, [at_other, other]) == round_, "it calls others"
            at_new = remote(name, far.echo, [round_])
            assert rpc_sync(other, far.pass_on, [at_new, name]) == round_, "others call it"
            rpc_sync(other, cuts.cut, [name, 0])
            assert rpc_sync(other, far.pass_on, [at_new, name]) == round_, "also after the stream between them broke"
            del at_other, at_new
        eventually(lambda: is_settled(["A", "B"]))
        assert get_debug_info().dead == (1, 2, 3)
    assert [said_by(process) for process in processes.values()] == ["", ""], "they leave together"


@pytest.mark.waits
def test_R44_a_name_that_is_a_members_is_not_given_again(port: int, visit: Visit) -> None:
    visit("A", 1, 2)
    with hosted(2, port):
        assert rpc_sync("A", far.name) == "A"
        twin = visit("A", 1, 2, VISITOR_TIMEOUT="2")
        assert said_by(twin).endswith("A is a member, and there is one of that name only")


def test_Z15_only_rank_0_says_who_joins_and_in_order(port: int) -> None:
    init_rpc("alone", rank=0, world_size=1, init_method=f"tcp://127.0.0.1:{port}")
    note, book = current().membership.note, current().membership._board
    assert isinstance(book, Book)
    with pytest.raises(WireError, match="worker 1 says who joins"):
        note(1, Known(1, "A", "127.0.0.1", 1))  # type: ignore[arg-type]
    with pytest.raises(WireError, match="nobody here has to hear that worker 5 joins"):
        note(0, Known(5, "A", "127.0.0.1", 1))  # type: ignore[arg-type]
    note(0, Known(1, "A", "127.0.0.1", 1))  # type: ignore[arg-type]
    assert book.names == {0: "alone", 1: "A"}
    shutdown()


def test_a_book_does_not_show_its_key() -> None:
    book = Book(("127.0.0.1", 1), KEY.encode())
    assert KEY not in repr(book)
    assert book.secret() == Book(("127.0.0.1", 2), KEY.encode()).secret()
    assert book.secret() != Book(("127.0.0.1", 1), b"another").secret()
