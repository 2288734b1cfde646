"""Messages as frames (spec/wire.md): a fixed header with two lengths, a MessagePack body, and the segments behind it.

The lengths are checked against a limit before anything is allocated. The body is decoded into one of a closed set of typed
messages; any other tag, type or extra field is a `WireError`, and the connection it came on is closed.
"""

from __future__ import annotations

import struct
from typing import Final, final

import msgspec

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import (
    Ack,
    AnyMessage,
    Call,
    CallFailed,
    Control,
    Excluded,
    FetchCall,
    FetchReturn,
    ForwardCall,
    Message,
    RemoteCall,
    Return,
    UserAccept,
)
from farref.impl.errors import RefusedValue, WireError
from farref.impl.settings import FRAME_BYTES_MAX
from farref.impl.values.codec import padded

HEADER: Final = struct.Struct("<II")


@final
class Reached(Message, frozen=True, tag=10):
    """I have finished this step of shutting down (R32). No part of the protocol: workers wait for each other with it."""

    step: int


@final
class Returned(Message, frozen=True, tag=11):
    """Nobody here looks at these rooms of your memory any more. No part of the protocol either."""

    places: tuple[int, ...]


@final
class Acks(Message, frozen=True, tag=13):
    """Several answers in one frame, as if each had come alone. Most answers travel like this (R5)."""

    answers: tuple[Ack, ...]


@final
class HungUp(Message, frozen=True, tag=14):
    """I take nothing more from you, and this is why. The last frame of a stream, where there is one."""

    reason: str


@final
class Heard(Message, frozen=True, tag=16):
    """I have taken so many bytes of whole frames from you since we met: forget them. It also says that I live."""

    taken: int


@final
class Known(Message, frozen=True, tag=17):
    """This worker is about to join, is called so and listens there. Rank 0 says it, in a world that met at an address."""

    rank: WorkerId
    name: str
    host: str
    port: int


Frame = AnyMessage | Reached | Returned | Acks | HungUp | Heard | Known

_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final[msgspec.msgpack.Decoder[Frame]] = msgspec.msgpack.Decoder(
    RemoteCall
    | UserAccept
    | Call
    | Return
    | CallFailed
    | FetchCall
    | FetchReturn
    | ForwardCall
    | Control
    | Ack
    | Reached
    | Returned
    | Acks
    | HungUp
    | Excluded
    | Heard
    | Known
)


def write_plain_frame(message: Frame, limit: int = FRAME_BYTES_MAX) -> bytes:
    """Write a message that has no segments."""
    body = _encoder.encode(message)
    length = len(body)
    if length > limit:
        raise RefusedValue(f"a message of {length} bytes is larger than the limit of {limit}")
    return HEADER.pack(length, length) + body


def write_frame(message: Frame, segments: list[memoryview], limit: int = FRAME_BYTES_MAX) -> list[bytes | memoryview]:
    """Write a message and its segments as pieces that leave in one write."""
    if not segments:
        return [write_plain_frame(message, limit)]
    body = _encoder.encode(message)
    start = padded(len(body))
    total = start + sum(padded(len(segment)) for segment in segments)
    if total > limit:
        raise RefusedValue(f"a message of {total} bytes is larger than the limit of {limit}")
    pieces: list[bytes | memoryview] = [HEADER.pack(total, len(body)) + body + bytes(start - len(body))]
    for segment in segments:
        pieces.append(segment)
        if len(segment) % 16:
            pieces.append(bytes(padded(len(segment)) - len(segment)))
    return pieces


def read_header(data: bytes | bytearray | memoryview, limit: int = FRAME_BYTES_MAX, start: int = 0) -> tuple[int, int]:
    """Read the two lengths of a frame: all of it, and its body. Refuse what is too large before making room for it."""
    total, body = HEADER.unpack_from(data, start)
    if total > limit or not 0 < body <= total:
        raise WireError(f"a frame of {total} bytes with a body of {body} is not acceptable; the limit is {limit}")
    return total, body


def read_body(body: bytes | memoryview) -> Frame:
    """Read a message, one of the closed set."""
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"a frame is no message: {error}") from error
