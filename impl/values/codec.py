"""Arguments and results as bytes: a closed set of types, nothing that could run (spec/wire.md, Values).

Values are MessagePack. What MessagePack has no word for is an extension with a fixed layout: arrays are dtype, shape and
raw bytes; a tuple stays a tuple; a reference is the number of its fork in the message; what stands for something of a module
is its name and its parts (see `named`). Anything else is refused by name.
Pickle runs code as it is read, so it is off unless both ends were told `allow_pickle=True`.

Small arrays lie in the body. Large ones travel behind it, as *segments*, which are read as views of the received frame. Still
larger ones do not travel at all if sender and receiver share memory (see `arena`): the sender copies, the receiver looks. In
each way the sender copies once, so that nothing it does to the array later can be seen. What is looked at cannot be written
to, and to have one rule for all large arrays, neither can those that came in a frame; unless the receiver wants copies
(`spec/arrays.md`).
"""

from __future__ import annotations

import math
import pickle
import struct
from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np
from msgspec.msgpack import Ext

from farref.impl.errors import RefusedValue, RpcError, WireError
from farref.impl.user_code import entering
from farref.impl.values.arena import ARRAY_BYTES_MIN, Window
from farref.impl.values.arrays import CODES, DTYPES, Array, little, read_array, read_head, write_array, write_head
from farref.impl.values.named import ENVELOPE, Resolve, put_together, take_apart, unpickled
from farref.impl.values.telling import in_short

SEGMENT_BYTES_MIN: Final = 4096
ALIGNMENT: Final = 16

ARRAY, SEGMENT, SCALAR, TUPLE, REFERENCE, SET, FROZENSET, INTEGER, COMPLEX, PICKLE, MAP, SHARED = range(1, 13)
BYTEARRAY: Final = 15

ARRAYS: Final = (ARRAY, SEGMENT, SHARED)

UNREADABLE: Final = (
    msgspec.MsgspecError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError, struct.error,
)  # fmt: skip
ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
_INDEX: Final = struct.Struct("<I")
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.decode
"""Not a decoder for each reader: making one takes longer than reading a small value."""


def write_atoms(value: object) -> bytes | None:
    """Write a value that MessagePack can write as it is, if one need not look far to see that."""
    is_simple = ATOMS.issuperset(map(type, value)) if type(value) is list else type(value) in ATOMS
    return _encoded(value) if is_simple else None


def write_simple_arguments(args: list[Any]) -> bytes | None:
    """Write the arguments of a call that has no named ones, if all are of MessagePack's own types."""
    return _encoded([args, {}]) if ATOMS.issuperset(map(type, args)) else None


class Writer:
    """Writes one value. `share` is called for each reference in it and says the number of its fork."""

    def __init__(
        self,
        share: Callable[[object], int | None],
        allow_pickle: bool = False,
        lend: Callable[[Array], int | None] | None = None,
    ) -> None:
        self.segments: list[memoryview] = []
        self.lent: list[int] = []
        self._lent_bytes = 0
        self._lend = lend
        self._offset = 0
        self._share = share
        self._allow_pickle = allow_pickle
        self._has_named = False

    def write(self, value: object) -> bytes:
        """Write a value; what belongs behind the body is in `segments` afterwards."""
        try:
            body = _encoded(self._plain(value))
            return _encode(Ext(ENVELOPE, body)) if self._has_named else body
        except RecursionError:
            raise RefusedValue("a value is nested too deeply, or contains itself") from None
        except RpcError:
            raise
        except Exception as error:  # text that is none, something that changes while it is written, a pickle that fails
            raise RefusedValue(f"a value cannot be written: {type(error).__name__}: {error!r}") from error

    def size(self, body: bytes) -> int:
        """Count the bytes of what was written, wherever they are."""
        return len(body) + self._lent_bytes + (sum(map(len, self.segments)) if self.segments else 0)

    def _plain(self, value: Any) -> object:
        kind = type(value)
        if kind in ATOMS:
            return value
        if kind is list:
            return [item if type(item) in ATOMS else self._plain(item) for item in value]
        if kind is dict:
            return self._dictionary(value)
        if kind is np.ndarray:
            return self._array(value)
        if kind is tuple:
            return Ext(TUPLE, self._nested(value))
        return self._rare(value, kind)

    def _rare(self, value: Any, kind: type) -> object:
        index = self._share(value)
        if index is not None:
            return Ext(REFERENCE, _INDEX.pack(index))
        if kind is set or kind is frozenset:
            return Ext(SET if kind is set else FROZENSET, self._nested(value))
        if kind is bytearray:
            return Ext(BYTEARRAY, bytes(value))
        if kind is complex:
            return Ext(COMPLEX, struct.pack("<dd", value.real, value.imag))
        if isinstance(value, np.generic) and value.dtype in CODES:
            return Ext(SCALAR, bytes([CODES[value.dtype]]) + value.tobytes())
        if self._allow_pickle:
            entering("writing a pickle")
            return Ext(PICKLE, pickle.dumps(value))
        if (named := take_apart(value, kind)) is not None:
            self._has_named = True
            return Ext(named[0], self._nested(named[1]))
        raise RefusedValue(f"a value of type {kind.__module__}.{kind.__qualname__} cannot travel")

    def _nested(self, items: Any) -> bytes:
        return _encoded([self._plain(item) for item in items])

    def _dictionary(self, value: dict[Any, Any]) -> object:
        if not value:
            return value
        if all(type(key) is str for key in value):
            return {key: self._plain(item) for key, item in value.items()}
        return Ext(MAP, _encoded([[self._plain(key), self._plain(item)] for key, item in value.items()]))

    def _array(self, array: Array) -> Ext:
        if array.nbytes < SEGMENT_BYTES_MIN:
            return Ext(ARRAY, write_array(array))
        array = little(array)
        head = write_head(array)
        place = self._lend(array) if self._lend is not None and array.nbytes >= ARRAY_BYTES_MIN else None
        if place is not None:
            self.lent.append(place)
            self._lent_bytes += array.nbytes
            return Ext(SHARED, head + struct.pack("<Q", place))
        self.segments.append(memoryview(array.tobytes()))
        offset, self._offset = self._offset, self._offset + padded(array.nbytes)
        return Ext(SEGMENT, head + struct.pack("<Q", offset))


class Reader:
    """Reads one value. `adopt` makes the reference for a fork's number; it takes effect later, or never (R28)."""

    resolve: Resolve | None = None
    """Finds what a name in an envelope stands for. A reader that must not run user code has none."""

    def __init__(
        self,
        adopt: Callable[[int], object],
        segments: memoryview | None = None,
        allow_pickle: bool = False,
        window: Window | None = None,
        copies: bool = False,
    ) -> None:
        self._window = window
        self._copies = copies
        self._adopt = adopt
        self._segments = segments if segments is not None else memoryview(b"")
        self._allow_pickle = allow_pickle

    def read(self, body: bytes) -> Any:
        """Read a value, or raise `WireError`."""
        try:
            return _decode(body, ext_hook=self.extension)
        except UNREADABLE as error:
            raise WireError(f"a value cannot be read: {in_short(error)}") from error
        except WireError:
            raise
        except BaseException as error:
            if self.resolve is None and not self._allow_pickle:  # then no code of the application was run: it is ours
                raise
            raise WireError(f"a value cannot be read: {in_short(error)}") from error

    def extension(self, code: int, data: memoryview) -> object:
        """Read what MessagePack has no word for."""
        if code == REFERENCE:
            return self._adopt(*_INDEX.unpack(data))
        match code:
            case 1 | 2 | 12:
                return self._array(data, code)
            case 3:
                return np.frombuffer(data, DTYPES[_checked(data[0])], 1, 1)[0]
            case 4:
                return tuple(self._items(data))
            case 6:
                return set(self._items(data))
            case 7:
                return frozenset(self._items(data))
            case 8:
                return int.from_bytes(data, "little", signed=True)
            case 9:
                return complex(*struct.unpack("<dd", data))
            case 10 if self._allow_pickle:
                return unpickled(data)
            case 11:
                return dict(self._items(data))
            case 15:
                return bytearray(data)
            case 16 if self.resolve is not None:
                return _decode(data, ext_hook=self.extension)
            case 17 | 18 | 19 | 20 if self.resolve is not None:
                return put_together(code, self._items(data), self.resolve)
        raise WireError(f"no value has the code {code}")

    def _items(self, data: memoryview) -> list[Any]:
        items = _decode(data, ext_hook=self.extension)
        if type(items) is not list:
            raise WireError("a collection is written as an array")
        return items

    def _array(self, data: memoryview, where: int) -> Array:
        if where == ARRAY:
            return read_array(data)
        dtype, shape, start = read_head(data)
        count = math.prod(shape)
        (place,) = struct.unpack_from("<Q", data, start)
        flat = self._in_frame(place, dtype, count) if where == SEGMENT else self._in_window(place, dtype, count)
        return flat.reshape(shape)

    def _in_frame(self, offset: int, dtype: np.dtype[Any], count: int) -> Array:
        if offset % ALIGNMENT or offset + count * dtype.itemsize > len(self._segments):
            raise WireError("an array lies outside its frame")
        array = np.frombuffer(self._segments, dtype, count, offset)
        array.flags.writeable = self._copies
        return array

    def _in_window(self, place: int, dtype: np.dtype[Any], count: int) -> Array:
        if self._window is None:
            raise WireError("an array is said to lie in shared memory, and there is none")
        view = self._window.view(place, dtype, count)
        return view.copy() if self._copies else view


def padded(length: int) -> int:
    """Round a length up, so that what comes next is aligned."""
    return -(-length // ALIGNMENT) * ALIGNMENT


def joined(segments: list[memoryview]) -> bytes:
    """Lay segments out as a frame does."""
    return b"".join(bytes(segment) + bytes(padded(len(segment)) - len(segment)) for segment in segments)


def _encoded(plain: object) -> bytes:
    """Write what has been made plain. Integers that MessagePack has no room for are rare, so nobody looks for them before."""
    try:
        return _encode(plain)
    except OverflowError:
        return _encode(_widened(plain))
    except UnicodeEncodeError as error:
        raise RefusedValue(f"a value cannot be written: {error}") from None


def _widened(plain: object) -> object:
    match plain:
        case list():
            return [_widened(item) for item in plain]
        case dict():
            return {key: _widened(item) for key, item in plain.items()}
        case int() if not -(2**63) <= plain < 2**64:
            return Ext(INTEGER, plain.to_bytes(plain.bit_length() // 8 + 1, "little", signed=True))
        case _:
            return plain


def _checked(code: int) -> int:
    if code >= len(DTYPES):
        raise WireError(f"no dtype has the code {code}")
    return code
