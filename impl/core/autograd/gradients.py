"""Gradients as bytes: an array for each tensor of a pair, nil where there is none (A22, spec/wire.md).

They lie in the body whatever their size: a control message is kept until it is answered, and may be sent again.
"""

from __future__ import annotations

import struct
from typing import Final

import msgspec
from msgspec.msgpack import Ext

from farref.impl.errors import WireError
from farref.impl.tape.graph import Gradient
from farref.impl.values.arrays import read_array, write_array
from farref.impl.values.codec import ARRAY

Gradients = tuple[Gradient, ...]
"""The gradients of one pair."""


def write_gradients(gradients: Gradients) -> bytes:
    """Write the gradients of one pair."""
    return _encode([None if one is None else Ext(ARRAY, write_array(one)) for one in gradients])


def read_gradients(body: bytes) -> Gradients:
    """Read the gradients of one pair, or raise `WireError`."""
    try:
        return tuple(_decode(body))
    except (msgspec.MsgspecError, ArithmeticError, LookupError, TypeError, ValueError, struct.error) as error:
        raise WireError(f"the gradients of a pair cannot be read: {error}") from error


def _read(code: int, data: memoryview) -> Gradient:
    if code != ARRAY:
        raise WireError("the gradients of a pair are arrays and nil")
    return read_array(data)


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Gradient], ext_hook=_read).decode
