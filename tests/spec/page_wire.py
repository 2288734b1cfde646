"""The least of `spec/wire.md` that two workers need over a Unix socket: values without arrays, the handshake, and frames.

Only the standard library is used, so that it can be read beside the page and written again in another language.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAUSE_S = 0.01
REFERENCE, TUPLE = 5, 4


@dataclass(frozen=True)
class Reference:
    """A reference in a body: the number of its fork in the message."""

    index: int


# -- MessagePack ---------------------------------------------------------------------------------------------------------


def pack(value: Any) -> bytes:
    """Write a value."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            small = 0 <= value < 0x80
            return (
                bytes([value]) if small else struct.pack(">BQ" if value >= 0 else ">Bq", 0xCF + 4 * (value < 0), value)
            )
        case float():
            return struct.pack(">Bd", 0xCB, value)
        case str():
            return struct.pack(">BI", 0xDB, len(value.encode())) + value.encode()
        case bytes():
            return struct.pack(">BI", 0xC6, len(value)) + value
        case Reference(index):
            return struct.pack("<BBI", 0xD6, REFERENCE, index)
        case list() | tuple():
            return struct.pack(">BH", 0xDC, len(value)) + b"".join(map(pack, value))
        case dict():
            return struct.pack(">BH", 0xDE, len(value)) + b"".join(pack(key) + pack(one) for key, one in value.items())
        case _:
            raise TypeError(f"{value!r} cannot travel")


def unpack(data: bytes) -> Any:
    """Read a value."""
    return Reader(data).value()


FIXED = {0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
LENGTHS = {
    0xC4: 1,
    0xC5: 2,
    0xC6: 4,
    0xD9: 1,
    0xDA: 2,
    0xDB: 4,
    0xDC: 2,
    0xDD: 4,
    0xDE: 2,
    0xDF: 4,
    0xC7: 1,
    0xC8: 2,
    0xC9: 4,
}
"""How many bytes the length has: of binaries, strings, arrays, maps and extensions."""


class Reader:
    """Reads what is written one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def value(self) -> Any:
        """Read the next value."""
        tag = self.take(1)[0]
        if tag < 0x80:
            return tag
        if tag >= 0xE0:
            return tag - 0x100
        if tag < 0xC0:
            return self._small(tag)
        if tag in CONSTANTS:
            return CONSTANTS[tag]
        if tag in FIXED:
            return struct.unpack(FIXED[tag], self.take(struct.calcsize(FIXED[tag])))[0]
        if 0xD4 <= tag <= 0xD8:
            return self._extension(1 << (tag - 0xD4))
        return self._long(tag, int.from_bytes(self.take(LENGTHS[tag]), "big"))

    def _small(self, tag: int) -> Any:
        if tag < 0x90:
            return self._map(tag - 0x80)
        return self._array(tag - 0x90) if tag < 0xA0 else self.take(tag - 0xA0).decode()

    def _long(self, tag: int, length: int) -> Any:
        if tag <= 0xC6:
            return self.take(length)
        if tag <= 0xC9:
            return self._extension(length)
        if tag <= 0xDB:
            return self.take(length).decode()
        return self._array(length) if tag <= 0xDD else self._map(length)

    def _array(self, length: int) -> list[Any]:
        return [self.value() for _ in range(length)]

    def _map(self, length: int) -> dict[Any, Any]:
        return {self.value(): self.value() for _ in range(length)}

    def _extension(self, length: int) -> Any:
        kind, data = self.take(1)[0], self.take(length)
        if kind == REFERENCE:
            return Reference(struct.unpack("<I", data)[0])
        if kind == TUPLE:
            return tuple(unpack(data))
        raise ValueError(f"extension {kind} is not read here")


# -- the stream ----------------------------------------------------------------------------------------------------------


class Link:
    """The stream of a worker of rank 1 to the one of rank 0, from the meeting on."""

    def __init__(self, directory: Path, name: str, incarnation: int) -> None:
        self.stream = socket.socket(socket.AF_UNIX)
        secret = _once(lambda: (directory / "secret").read_bytes())
        (directory / "1.name").write_text(name)
        _once(lambda: self.stream.connect(str(directory / "0")))
        self._shake_hands(secret[:16], secret[16:], incarnation)
        self.stream.sendall(b"\0")
        socket.recv_fds(self.stream, 1, 1)  # whatever memory the other has: this one declines

    def _shake_hands(self, world: bytes, key: bytes, incarnation: int) -> None:
        own = b"farref\r\n" + struct.pack("<HHIQ", 1, 0, 1, incarnation) + world + os.urandom(32)
        self.stream.sendall(own)
        other = self._take(len(own))
        self.incarnation: int = struct.unpack_from("<Q", other, 16)[0]
        self.stream.sendall(hmac.digest(key, b"connects" + own + other, hashlib.sha256))
        proof = hmac.digest(key, b"accepts\0" + other + own, hashlib.sha256)
        if not hmac.compare_digest(self._take(len(proof)), proof):
            raise ConnectionError("the other end does not know the key")

    def send(self, message: list[Any]) -> None:
        body = pack(message)
        self.stream.sendall(struct.pack("<II", len(body), len(body)) + body)

    def read(self) -> list[Any]:
        total, body = struct.unpack("<II", self._take(8))
        message: list[Any] = unpack(self._take(total)[:body])
        return message

    def _take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            piece = self.stream.recv(count - len(taken))
            if not piece:
                raise ConnectionError("the stream has ended")
            taken += piece
        return taken


def _once(attempt: Any) -> Any:
    """Try until it can be done: the other worker may not be there yet."""
    while True:
        try:
            return attempt()
        except OSError:
            time.sleep(PAUSE_S)
