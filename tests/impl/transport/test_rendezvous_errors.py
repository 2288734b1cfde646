"""What does not fit where workers meet at an address: each is told in one line (spec/wire.md, Z11 to Z14)."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from farref.impl import RpcError, RpcTimeout, Settings, Tls, init_rpc
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.errors import GaveUp
from farref.impl.transport.boards import Book
from farref.impl.transport.handshake import Identity
from farref.impl.transport.mesh import Meeting
from farref.impl.transport.rendezvous import host, shared_secret
from farref.impl.transport.visiting import visit

CERTIFICATES = Path(__file__).parent / "certificates"
KEY = "a key of the tests"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARREF_KEY", KEY)


@pytest.fixture
def port() -> int:
    """Find a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def certificates(who: str = "worker") -> Tls:
    return Tls(*(str(CERTIFICATES / name) for name in (f"{who}.pem", f"{who}.key", "worker-authority.pem")))


class Attempts:
    """Visitors as threads of this process, which only come to meet."""

    def __init__(self, port: int) -> None:
        self._port, self._threads, self.told = port, list[threading.Thread](), dict[str, str]()

    def meeting(self, size: int, key: str, tls: Tls | None, seconds: float) -> tuple[Meeting, Book]:
        book = Book(("127.0.0.1", self._port), shared_secret(key, tls))
        return Meeting(book, size, Settings(tls=tls), time.monotonic() + seconds), book

    def come(self, name: str, rank: int, size: int, key: str = KEY, tls: Tls | None = None) -> None:
        meeting, book = self.meeting(size, key, tls, 30)

        def attempt() -> None:
            try:
                visit(
                    meeting,
                    book,
                    Identity(WorkerId(rank), Incarnation(time.time_ns()), *book.secret()),
                    name,
                    self.check,
                )
            except RpcError as error:
                self.told[name] = f"{type(error).__name__}: {error}"

        self._threads.append(threading.Thread(target=attempt))
        self._threads[-1].start()

    def check(self) -> None:
        """Let nobody try for long after somebody was told something."""
        if self.told:
            raise GaveUp("somebody else was refused")

    def host(self, size: int, tls: Tls | None = None) -> str:
        """Be rank 0 until somebody was told something, and a little longer; say how that ends."""
        meeting, book = self.meeting(size, KEY, tls, 30)

        def shorten() -> None:
            if self.told:
                object.__setattr__(meeting, "deadline", 0.0)

        with pytest.raises(RpcTimeout) as ended:
            host(meeting, book, Identity(WorkerId(0), Incarnation(9), *book.secret()), "host", shorten)
        for thread in self._threads:
            thread.join()
        return str(ended.value)


def test_another_key_is_told_at_once_on_both_sides(port: int) -> None:
    attempts = Attempts(port)
    attempts.come("A", 1, 2, key="another key, that does not fit")
    assert attempts.host(2).endswith("1 workers have not come; at last: somebody came with another key")
    assert attempts.told == {
        "A": f"Mismatch: worker 0 at tcp://127.0.0.1:{port} has another key (key=, FARREF_KEY)",
    }


def test_a_certificate_of_another_authority_is_told_at_once(port: int) -> None:
    attempts = Attempts(port)
    attempts.come("A", 1, 2, tls=certificates("stranger"))
    told = attempts.host(2, tls=certificates())
    assert "at last: somebody came without a certificate of the authority" in told
    assert "and the certificates (tls=) do not fit" in attempts.told["A"]


def test_a_rank_that_is_taken_is_refused_and_who_has_it_is_named(port: int) -> None:
    attempts = Attempts(port)
    attempts.come("A", 1, 3)
    attempts.come("B", 1, 3)
    assert "1 workers have not come" in (told := attempts.host(3))
    refused = next(name for name, said in attempts.told.items() if said.startswith("RpcError: rank 1 is taken by "))
    assert told.endswith(f"rank 1 is taken by {'A' if refused == 'B' else 'B'}")


def test_a_size_that_differs_is_told_on_both_sides(port: int) -> None:
    attempts = Attempts(port)
    attempts.come("A", 1, 3)
    told = "A (rank 1) expects a world of 3, and worker 0 one of 2"
    assert attempts.host(2).endswith(f"at last: {told}")
    assert attempts.told == {"A": f"RpcError: {told}"}


def test_two_of_rank_0_cannot_listen_both(port: int) -> None:
    told = rf"worker 0 cannot listen at tcp://127.0.0.1:{port}: .*in use"
    with socket.create_server(("127.0.0.1", port)), pytest.raises(RpcError, match=told):
        init_rpc("host", rank=0, world_size=2, init_method=f"tcp://127.0.0.1:{port}")


@pytest.mark.parametrize("rank", [0, 1])
def test_a_host_that_nobody_knows_is_named(rank: int) -> None:
    told = r"the host of tcp://nowhere\.invalid:29500 is unknown"
    with pytest.raises(RpcError, match=told):
        init_rpc("A", rank=rank, world_size=2, init_method="tcp://nowhere.invalid:29500", timeout=5)


def test_rank_0_that_never_comes_is_named_with_where_it_should_be(port: int) -> None:
    told = rf"worker 0 has not let A in at tcp://127.0.0.1:{port}; at last: .*refused"
    with pytest.raises(RpcTimeout, match=told):
        init_rpc("A", rank=1, world_size=2, init_method=f"tcp://127.0.0.1:{port}", timeout=0.3)


def test_without_a_key_or_certificates_nobody_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RpcError, match="a key has 16 characters or more, and this one has 5"):
        init_rpc("A", rank=0, world_size=1, init_method="tcp://127.0.0.1:29500", key="short")
    monkeypatch.delenv("FARREF_KEY")
    with pytest.raises(RpcError, match=r"needs a key \(key=, FARREF_KEY\), or certificates"):
        init_rpc("A", rank=0, world_size=1, init_method="tcp://127.0.0.1:29500")


@pytest.mark.parametrize(
    "place", ["host", "host:", ":1", "host:99999", "host:0", "host:1/path", "host:1?rank=0", "[::1"]
)
def test_what_is_no_address_is_refused(place: str) -> None:
    with pytest.raises(RpcError, match="an address is tcp://host:port"):
        init_rpc("A", rank=0, world_size=1, init_method=f"tcp://{place}")
