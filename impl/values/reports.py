"""Errors as they travel: type, message and traceback as text.

An error can always be told, whatever its class does (`telling`): its caller would wait for ever.

The type is rebuilt where it is known already. Nothing is imported for it, and no constructor of it is called. To make a class
of it may run user code all the same, a metaclass for one, and may fail. So it is done by whoever asks for the error, under no
lock, and where it fails the error is a plain `RemoteError`. No error of a user can end a link.
"""

from __future__ import annotations

import builtins
import sys
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from farref.impl import errors
from farref.impl.errors import RemoteError, RpcError, WireError
from farref.impl.user_code import entering
from farref.impl.values.telling import class_of, message_of, traceback_of, writable

TEXT_MAX: Final = 2**18
"""How many characters of an error's message, and of its traceback, are told."""


class ErrorReport(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What is told of an exception."""

    module: str
    type_name: str
    message: str
    traceback: str
    worker: str
    function: str


_cause: Final = BaseException.__dict__["__cause__"].__get__
_context: Final = BaseException.__dict__["__context__"].__get__
_hides_context: Final = BaseException.__dict__["__suppress_context__"].__get__
OURS: Final = {"__str__": RemoteError.__str__, "__getattribute__": RemoteError.__getattribute__}
"""What a class that is also a RemoteError does as that: its attributes are what came."""
_decoder = msgspec.msgpack.Decoder(ErrorReport)


def write_error(error: BaseException, worker: str, function: str) -> bytes:
    """Describe an exception for another worker. One that has travelled already keeps its first description."""
    report = _as_it_came(error)
    if report is None:
        if _has_code(error):
            entering("the text of an error")
        told = (*class_of(error), message_of(error), traceback_of(error), worker, function)
        report = ErrorReport(*(writable(text, TEXT_MAX) for text in told))
    return msgspec.msgpack.encode(report)


def _as_it_came(error: BaseException) -> ErrorReport | None:
    """Describe an error that has travelled; nothing if it has not, or cannot say any more what came."""
    if not issubclass(type(error), RemoteError):
        return None
    try:
        module, _, name = error.type_name.rpartition(".")  # type: ignore[attr-defined]
        told = (module, name, str(error), error.traceback, error.worker, error.function)  # type: ignore[attr-defined]
        return ErrorReport(*map(str.__str__, told))
    except BaseException:
        return None


def _has_code(error: BaseException) -> bool:
    """Say whether to ask for a text runs user code: the error, or what is told with it, may not be ours."""
    is_ours = issubclass(type(error), RpcError) and _cause(error) is None
    return not is_ours or not (_context(error) is None or _hides_context(error))


def read_report(body: bytes) -> ErrorReport:
    """Read a description. Nothing is made of it."""
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WireError(f"an error report cannot be read: {error}") from error


def text_of(report: ErrorReport) -> str:
    """Say what an error is, and where it happened."""
    if report.message.endswith(report.traceback):
        return report.message
    return f"{report.type_name} on {report.worker} in {report.function}: {report.message}\n\n{report.traceback}"


def read_error(body: bytes) -> RpcError:
    """Make an exception of a description: an error of ours as it was, any other as a RemoteError of its own type too.

    It may run user code.
    """
    report = read_report(body)
    if report.module == errors.__name__ and report.type_name != "RemoteError":
        known = getattr(errors, report.type_name, RpcError)
        if isinstance(known, type) and issubclass(known, RpcError):
            return known(report.message)
    entering("making an error")
    try:
        return _made(_rebuilt(report.module, report.type_name), report)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class that allows no other beside it, or wants to be made in its own way
        return _made(RemoteError, report)


def _made(kind: type[RemoteError], report: ErrorReport) -> RemoteError:
    name = f"{report.module}.{report.type_name}"
    where = {"worker": report.worker, "function": report.function}
    return kind(text_of(report), **where, type_name=name, traceback=report.traceback)


@lru_cache(maxsize=256)
def _rebuilt(module: str, name: str) -> type[RemoteError]:
    """Find a class that is both a RemoteError and the original type, if that type is known here."""
    original = getattr(builtins if module == "builtins" else sys.modules.get(module), name, None)
    if not isinstance(original, type) or not issubclass(original, Exception):
        return RemoteError
    return type(f"Remote{name}", (RemoteError, original), OURS)
