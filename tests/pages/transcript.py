"""The pages `transcript.md` and `log.md` of the spec: a conversation of two workers, byte by byte and as their logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

import msgspec

from farref.impl.core.messages import Control
from farref.impl.transport.frames import HEADER, Frame, write_frame
from farref.impl.transport.handshake import HELLO
from tests.pages.conversation import NAMES, Said, conversation, other

_encode: Final = msgspec.msgpack.Encoder().encode
Piece = tuple[bytes, str]
"""Some bytes of a message, and what they are."""

HELLO_FIELDS: Final = (
    (8, "`farref\\r\\n`"), (2, "version 1"), (2, "0"), (4, "rank"), (8, "incarnation"), (16, "the world's id"), (32, "nonce"),
)  # fmt: skip


def transcript() -> str:
    """Write everything that two workers say, with what the bytes mean."""
    parts = []
    for why, said in groupby(conversation().said, key=lambda one: one.why):
        parts.append(f"### {why[0].upper()}{why[1:]}\n")
        parts.append("```\n" + "\n\n".join(map(_shown, said)) + "\n```\n")
    return "\n".join(parts).rstrip("\n")


def _shown(said: Said) -> str:
    way = f"{NAMES[said.source]} to {NAMES[other(said.source)]}"
    if isinstance(said.message, bytes):
        name, pieces = _before_frames(said.message)
    else:
        name, pieces = _name(said.message), list(_pieces(said.message))
    lines = [f"  {data.hex():<36}  {meaning}".rstrip() for data, meaning in pieces]
    return "\n".join([f"{way}: {name}", *lines])


def _before_frames(data: bytes) -> tuple[str, list[Piece]]:
    if len(data) == 1:
        return "one byte", [(data, "no shared memory, and none is wanted")]
    if len(data) != HELLO.size:
        return "proof", [(data, "HMAC-SHA256")]
    places = [sum(size for size, _ in HELLO_FIELDS[:place]) for place in range(len(HELLO_FIELDS))]
    pieces = [(data[at : at + size], text) for at, (size, text) in zip(places, HELLO_FIELDS, strict=True)]
    return "hello", [(piece, _told(piece, text)) for piece, text in pieces]


def _told(piece: bytes, text: str) -> str:
    return f"{text}: {int.from_bytes(piece, 'little')}" if text in ("rank", "incarnation") else text


def _name(message: Frame) -> str:
    return type(message.body if isinstance(message, Control) else message).__name__


def _pieces(message: Frame) -> Iterator[Piece]:
    """Take a frame apart. What the pieces are put together to must be the frame."""
    frame = b"".join(map(bytes, write_frame(message, [])))
    found = [(frame[: HEADER.size], "length of what follows, length of the body"), *_fields(message)]
    assert b"".join(data for data, _ in found) == frame
    return iter(found)


def _fields(message: Any) -> Iterator[Piece]:
    names = message.__struct_fields__
    yield bytes([0x90 + len(names) + 1]), f"array of {len(names) + 1}"
    yield _encode(message.__struct_config__.tag), f"tag: {type(message).__name__}"
    for name in names:
        value = getattr(message, name)
        if isinstance(message, Control) and name == "body":
            yield from _fields(value)
        elif name == "body":
            yield _encode(value), f"body: binary of {len(value)}, which is {_read(value)}"
        else:
            yield _encode(value), f"{name}: {json.dumps(msgspec.to_builtins(value))}"


def _read(body: bytes) -> str:
    """Say what a body is; a reference is an extension."""
    value = msgspec.msgpack.decode(body)
    return json.dumps(value, default=lambda _: "reference 0").replace('"reference 0"', "reference 0")


def sample_logs() -> str:
    """Write the logs of the conversation, without times."""
    lines = []
    for log in conversation().logs.values():
        for line in log.getvalue().decode().splitlines():
            event = {name: value for name, value in json.loads(line).items() if name != "time"}
            lines.append(json.dumps(event))
    return "```json\n" + "\n".join(lines) + "\n```"
