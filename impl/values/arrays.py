"""Arrays as bytes, with a fixed layout: dtype, shape, elements (spec/wire.md, extension 1).

Small arrays are most of what autograd sends, so this is short on purpose: one struct, one buffer, no decoder in between.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from farref.impl.errors import RefusedValue, WireError

DIMENSIONS_MAX: Final = 32

DTYPES: Final = tuple(
    np.dtype(name)
    for name in ("?", "<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16")
)
CODES: Final = {dtype: code for code, dtype in enumerate(DTYPES)}

Array = npt.NDArray[Any]

_HEADS: Final = tuple(struct.Struct(f"<BB{dimensions}Q") for dimensions in range(DIMENSIONS_MAX + 1))


def little(array: Array) -> Array:
    """Give an array in the order of bytes in which it travels, if it is of a kind that travels."""
    if array.dtype in CODES:
        return array
    turned = array.dtype.newbyteorder("<")
    return array.astype(turned) if turned in CODES else array


def write_head(array: Array) -> bytes:
    """Write what an array is like: dtype, number of dimensions, each length."""
    code, dimensions = CODES.get(array.dtype), array.ndim
    if code is None or dimensions > DIMENSIONS_MAX:
        raise RefusedValue(f"an array of dtype {array.dtype} cannot travel")
    return _HEADS[dimensions].pack(code, dimensions, *array.shape)


def read_head(data: memoryview, start: int = 0) -> tuple[np.dtype[Any], list[int], int]:
    """Read what an array is like, and where that ends."""
    code, dimensions = data[start], data[start + 1]
    if dimensions > DIMENSIONS_MAX:
        raise WireError(f"an array has {dimensions} dimensions")
    if code >= len(DTYPES):
        raise WireError(f"no dtype has the code {code}")
    head = _HEADS[dimensions]
    _, _, *shape = head.unpack_from(data, start)
    return DTYPES[code], shape, start + head.size


def write_array(array: Array) -> bytes:
    """Write an array whole."""
    array = little(array)
    return write_head(array) + array.tobytes()


def read_array(data: memoryview, start: int = 0) -> Array:
    """Read a whole array, into memory of its own."""
    dtype, shape, begin = read_head(data, start)
    array: Array = np.ndarray(shape, dtype, data, begin)
    if array.nbytes != len(data) - begin:
        raise WireError("an array's bytes do not fit its shape")
    return array.copy()
