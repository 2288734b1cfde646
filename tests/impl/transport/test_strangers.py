"""Whoever does not belong to a world: turned away, before anything of theirs is read, without harm to those who do."""

from __future__ import annotations

import os
import pickle
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from farref.impl import RefusedCall, RefusedFunction, RpcError, Settings, Tls, init_rpc, launch, rpc_sync
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.errors import Mismatch, WireError
from farref.impl.transport import handshake
from farref.impl.transport.doorway import GUESTS_MAX, Doorway, Guest
from farref.impl.transport.handshake import Identity
from farref.impl.transport.streams import introduce
from tests.impl.far import faults
from tests.impl.far import references as far

ROOT = Path(__file__).parents[3]
CERTIFICATES = Path(__file__).parent / "certificates"
KEY, WORLD = b"k" * 32, b"w" * 16


def identity(rank: int, world: bytes = WORLD, key: bytes = KEY) -> Identity:
    return Identity(WorkerId(rank), Incarnation(7), world, key)


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "0"))
        listener.listen(1000)
        yield listener


def knock(listener: socket.socket) -> socket.socket:
    guest = socket.socket(socket.AF_UNIX)
    guest.connect(listener.getsockname())
    return guest


# Knocking


def test_a_thousand_who_say_nothing_keep_nobody_out(listener: socket.socket) -> None:
    door = Doorway(listener, lambda guest: Guest(*introduce(guest, identity(0), Settings(), connecting=False)))
    silent = [knock(listener) for _ in range(1000)]
    outcome: list[handshake.Peer] = []

    def come() -> None:
        while not outcome:
            with knock(listener) as stream:
                try:
                    outcome.append(handshake.connect(stream, identity(1)))
                except (WireError, OSError):
                    continue

    good = threading.Thread(target=come, daemon=True)
    good.start()
    admitted, most = None, 0
    deadline = time.monotonic() + 30
    while admitted is None and time.monotonic() < deadline:
        admitted = door.admit()
        most = max(most, len(door._guests))
    assert admitted is not None
    assert admitted.peer.rank == 1
    assert most == GUESTS_MAX
    good.join(10)
    door.close()
    for stream in (admitted.stream, *silent):
        stream.close()


def talk_for_ever(guest: socket.socket, door: Doorway) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        door.admit()
        guest.sendall(b"f")


def test_whoever_takes_longer_than_the_deadline_is_sent_away(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if whoever listens to it would listen for ever."""
    monkeypatch.setattr("farref.impl.transport.doorway.DEADLINE_S", 0.1)

    def patient(guest: socket.socket) -> Guest:
        while guest.recv(1):
            pass
        raise WireError("it has gone")

    door = Doorway(listener, patient)
    with knock(listener) as slow, pytest.raises(BrokenPipeError):
        talk_for_ever(slow, door)
    door.close()


def test_a_handshake_that_was_listened_to_cannot_be_used_again() -> None:
    """What a worker sent is recorded and sent again: the nonce of the other side is another, and the proof does not fit."""
    ours, theirs = socket.socketpair()
    recorded = b""
    thread = threading.Thread(target=lambda: handshake.accept(theirs, identity(0)))
    thread.start()

    class Recorder:
        def sendall(self, data: bytes) -> None:
            nonlocal recorded
            recorded += data
            ours.sendall(data)

        def __getattr__(self, name: str) -> Any:
            return getattr(ours, name)

    handshake.connect(Recorder(), identity(1))  # type: ignore[arg-type]
    thread.join()
    ours.close()
    theirs.close()
    again, victim = socket.socketpair()
    with again, victim:
        again.sendall(recorded)
        with pytest.raises(WireError, match="does not know the key"):
            handshake.accept(victim, identity(0))


def test_other_versions_and_worlds_are_named_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = clash(identity(1, world=b"v" * 16), identity(0))
    for error, own, other in zip(errors, (b"v", b"w"), (b"w", b"v"), strict=True):
        assert f"belongs to the world {(other * 16).hex()}, this one to {(own * 16).hex()}" in error
    plain = handshake.HELLO
    monkeypatch.setattr(
        handshake, "hello", lambda who, nonce, _: plain.pack(b"farref\r\n", 2, 0, who.rank, 1, WORLD, nonce)
    )
    assert clash(identity(1), identity(0)) == ["the other end speaks version 2 of the wire, this one version 1"] * 2


def clash(connecting: Identity, accepting: Identity) -> list[str]:
    """What each side says of the other."""
    ours, theirs = socket.socketpair()
    said = ["", ""]

    def side(index: int, shake: Any, end: socket.socket, who: Identity) -> None:
        with end:
            try:
                shake(end, who)
            except Mismatch as error:
                said[index] = str(error)

    thread = threading.Thread(target=side, args=(1, handshake.accept, theirs, accepting))
    thread.start()
    side(0, handshake.connect, ours, connecting)
    thread.join()
    return said


def test_a_worker_of_another_world_is_told_at_once(tmp_path: Path) -> None:
    """Two directories, and a worker that looks for the other in the wrong one: an error that names both, not a timeout."""
    tmp_path.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "0"))
        listener.listen()
        (tmp_path / "0.name").write_text("other")

        def answer() -> None:
            with listener.accept()[0] as guest, pytest.raises(Mismatch):
                handshake.accept(guest, identity(0))

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(Mismatch, match=WORLD.hex()):
            init_rpc("a", 1, 2, directory=tmp_path)
        thread.join()


# TLS


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.1", "::", "localhost", ""])
def test_listening_where_other_machines_can_knock_needs_certificates(address: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(RpcError, match=r"certificates|no IP address"):
        init_rpc("a", 0, 2, directory=tmp_path, transport="tcp", settings=Settings(address=address))


def test_certificates_that_are_missing_or_of_no_use_are_named_at_once(tmp_path: Path) -> None:
    missing = Tls(str(tmp_path / "none.pem"), str(tmp_path / "none.key"), str(tmp_path / "authority.pem"))
    with pytest.raises(RpcError, match=r"none.pem.*cannot be used"), launch(1, transport="tcp", tls=missing):
        pass
    with pytest.raises(RpcError, match='this is "unix"'), launch(1, tls=files("worker")):
        pass


def files(who: str) -> Tls:
    names = (f"{who}.pem", f"{who}.key", "worker-authority.pem")
    return Tls(*(str(CERTIFICATES / name) for name in names))


def test_whoever_begins_tls_and_says_nothing_makes_room_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farref.impl.transport.doorway.GUESTS_MAX", 1)
    monkeypatch.setattr("farref.impl.transport.doorway.DEADLINE_S", 60)
    monkeypatch.setattr(handshake, "DEADLINE_S", 60)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = Settings(tls=files("worker"))
        door = Doorway(listener, lambda guest: Guest(*introduce(guest, identity(0), settings, connecting=False)))
        with socket.create_connection(listener.getsockname()) as silent:
            silent.settimeout(5)
            door.admit()
            time.sleep(0.3)  # until TLS has begun, and the guest's first socket is nobody's any more
            door.admit()
            assert silent.recv(1) == b""
        door.close()


def test_a_world_with_certificates() -> None:
    with launch(["A", "B"], allow=["tests.impl.far.references"], transport="tcp", tls=files("worker")):
        assert rpc_sync("A", far.add, [1, 2]) == 3
        large = bytes(range(256)) * 20_000
        assert rpc_sync("B", far.echo, [large]) == large
        assert rpc_sync("A", far.pass_on, [rpc_sync("B", far.make, ["value"]), "B"]) == "value"


@pytest.mark.parametrize("theirs", [files("stranger"), None], ids=["of another authority", "none"])
def test_a_wrong_certificate_or_none_is_refused(theirs: Tls | None) -> None:
    results: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            guest, _ = listener.accept()
            with guest:
                try:
                    results.append(introduce(guest, identity(0), Settings(tls=files("worker")), connecting=False))
                except (WireError, OSError) as error:
                    results.append(error)

        thread = threading.Thread(target=answer)
        thread.start()
        with socket.create_connection(listener.getsockname()) as stream, pytest.raises((WireError, OSError)):
            introduce(stream, identity(1), Settings(tls=theirs), connecting=True)
        thread.join()
    assert isinstance(results[0], OSError)


# What an authenticated peer may not do either


class Canary:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("canary",)


def test_no_pickle_is_read_and_no_builtin_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    body = msgspec.msgpack.encode([[msgspec.msgpack.Ext(10, pickle.dumps(Canary()))], {}])
    with launch(["A"], allow=["tests.impl.far.references"]):
        faults.spoil("Call", body=body)
        with pytest.raises(RefusedCall, match="code 10"):
            rpc_sync("A", far.echo, [1])
        assert faults.heal() == {"Call": 1}
        for name in (
            "builtins:eval",
            "os:mkdir",
            "tests.impl.far.references:os.mkdir",
            "posix:mkdir",
            "subprocess:run",
        ):
            with pytest.raises(RefusedFunction):
                rpc_sync("A", name, ["canary"])
        assert rpc_sync("A", far.echo, [1]) == 1
    assert not (tmp_path / "canary").exists()
