"""Errors as they travel: type, message and traceback as text.

The type is rebuilt where it is known already. Nothing is imported for it, and no constructor of it is called. To make a class
of it may run user code all the same, a metaclass for one, and may fail. So it is done by whoever asks for the error, under no
lock, and where it fails the error is a plain `RemoteError`. No error of a user can end a link.
"""

from __future__ import annotations

import builtins
import sys
import traceback
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from farref.impl import errors
from farref.impl.errors import RemoteError, RpcError, WireError
from farref.impl.user_code import entering

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


_decoder = msgspec.msgpack.Decoder(ErrorReport)


def write_error(error: BaseException, worker: str, function: str) -> bytes:
    """Describe an exception for another worker. One that has travelled already keeps its first description."""
    if isinstance(error, RemoteError):
        module, _, name = error.type_name.rpartition(".")
        report = ErrorReport(module, name, str(error), error.traceback, error.worker, error.function)
    else:
        kind = type(error)
        if not isinstance(error, RpcError) or error.__cause__ or (error.__context__ and not error.__suppress_context__):
            entering("the text of an error")
        text = "".join(traceback.format_exception(error))
        told = (str(kind.__module__), kind.__qualname__, _message(error), text, worker, function)
        report = ErrorReport(*map(_writable, told))
    return msgspec.msgpack.encode(report)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failed:
        return f"it cannot say what it is: {type(failed).__name__}"


def _writable(text: str) -> str:
    """Give a text that every worker can be told: its beginning and its end if it is long, without what is no character."""
    half = TEXT_MAX // 2
    shown = text if len(text) <= TEXT_MAX else f"{text[:half]} ... {text[-half:]}"
    return shown.encode("utf-8", "replace").decode()


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
    except Exception:  # a class that allows no other beside it, or wants to be made in its own way
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
    return type(f"Remote{name}", (RemoteError, original), {"__str__": RemoteError.__str__})
