"""Gradients as bytes: an array for each tensor of a pair, nil where there is none (A22, spec/wire.md).

They lie in the body whatever their size: a control message is kept until it is answered, and may be sent again.
"""

from __future__ import annotations

import struct

import msgspec
import numpy as np
from msgspec.msgpack import Ext

from farref.impl.errors import WireError
from farref.impl.tape.graph import Gradient
from farref.impl.values import ARRAY, CODES, Array, Reader

Gradients = tuple[Gradient, ...]
"""The gradients of one pair."""


def write_gradients(gradients: Gradients) -> bytes:
    """Write the gradients of one pair."""
    return msgspec.msgpack.encode([None if one is None else _array(one) for one in gradients])


def read_gradients(body: bytes) -> Gradients:
    """Read the gradients of one pair, or raise `WireError`."""
    read = Reader(_no_reference).read(body)
    if type(read) is not list or not all(one is None or isinstance(one, np.ndarray) for one in read):
        raise WireError("the gradients of a pair are arrays and nil")
    return tuple(read)


def _array(array: Array) -> Ext:
    head = struct.pack(f"<BB{array.ndim}Q", CODES[array.dtype], array.ndim, *array.shape)
    return Ext(ARRAY, head + array.tobytes())


def _no_reference(_index: int) -> object:
    raise WireError("gradients have no references")
