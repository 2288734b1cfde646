"""The process in which an adapter written in Python runs: `python -m farref.properties.conformance.conversation.host file.py`.

It gives the adapter's methods the requests that come in as JSON lines, each in a thread of its own, so that a verb may simply
wait. What the adapter or the backend prints goes to stderr: stdout belongs to the answers.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
import traceback
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from farref.properties.conformance.conversation.session import PROTOCOL
from farref.properties.conformance.kit.backend import KINDS, VERBS, Adapter
from farref.properties.conformance.kit.steps import STEPS, Stepped

TRACE_FRAMES = 8
KINDS_OF_VERBS = ((Adapter, VERBS), (Stepped, STEPS))
ARGUMENTS = {
    verb: tuple(signature(getattr(kind, verb)).parameters)[1:] for kind, verbs in KINDS_OF_VERBS for verb in verbs
}
"""What each verb is given, as the methods of `Adapter` name it."""


def load(place: str) -> Adapter:
    """Find the adapter in a file (`file.py`, its only class with the verbs) or in a module (`module:attribute`)."""
    if place.endswith(".py"):
        return _only_adapter(_module_of(Path(place)))
    module, _, attribute = place.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    adapter: Adapter = found() if isinstance(found, type) else found
    return adapter


def _module_of(path: Path) -> Any:
    sys.path.insert(0, str(path.parent.resolve()))
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    return module


def _only_adapter(module: Any) -> Adapter:
    kinds = [
        one
        for one in vars(module).values()
        if isinstance(one, type)
        and one.__module__ == module.__name__
        and hasattr(one, "start")
        and hasattr(one, "stop")
    ]
    if len(kinds) != 1:
        names = ", ".join(one.__name__ for one in kinds) or "none"
        raise LookupError(f"{module.__file__} must have one class with the verbs `start` and `stop`, and has {names}")
    adapter: Adapter = kinds[0]()
    return adapter


class Host:
    """Answers requests with an adapter."""

    def __init__(self, adapter: Adapter, requests: BinaryIO, answers: BinaryIO) -> None:
        self._adapter, self._requests, self._answers = adapter, requests, answers
        self._lock = threading.Lock()

    def serve(self) -> None:
        """Answer until nobody asks any more, then stop the backend, and let the adapter end if it has more to end."""
        for line in self._requests:
            request = msgspec.json.decode(line)
            if "concurrent" in self._adapter.capabilities and request.get("verb") not in STEPS:  # a step never waits
                threading.Thread(target=self._answer, args=(request,), daemon=True).start()
            else:
                self._answer(request)
        self._adapter.stop()
        getattr(self._adapter, "end", lambda: None)()

    def _answer(self, request: dict[str, Any]) -> None:
        number, verb = request.pop("id"), request.pop("verb")
        try:
            given = self._hello(request) if verb == "hello" else self._carry_out(verb, request)
            answer = _encoded({"id": number, "ok": given})
        except Exception as error:
            answer = msgspec.json.encode({"id": number, "error": {**describe(error), "trace": trace_of(error)}})
        with self._lock:
            self._answers.write(answer + b"\n")
            self._answers.flush()

    def _hello(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["protocol"] != PROTOCOL:
            raise ValueError(f"this host speaks protocol {PROTOCOL}")
        adapter = self._adapter
        known = {"name": adapter.name, "version": adapter.version, "capabilities": sorted(adapter.capabilities)}
        return {**known, "reasons": dict(getattr(adapter, "reasons", {}))}

    def _carry_out(self, verb: str, request: dict[str, Any]) -> Any:
        if verb not in ARGUMENTS:
            raise NotImplementedError(f"there is no verb {verb!r}")
        return getattr(self._adapter, verb)(*(request[name] for name in ARGUMENTS[verb]))


def _encoded(answer: dict[str, Any]) -> bytes:
    """Write an answer. One that cannot be written is no failure of the backend, and must not be taken for one."""
    try:
        return msgspec.json.encode(answer)
    except Exception as error:
        raise NotImplementedError(f"the adapter gives what JSON cannot say: {error}") from error


def trace_of(error: BaseException) -> str:
    """Give the end of the trace of a stack, without the frames of this host; or the trace that it brings from elsewhere."""
    if isinstance(brought := getattr(error, "trace", None), str):
        return brought
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename != __file__]
    lines = "".join(traceback.format_list(frames[-TRACE_FRAMES:]) + traceback.format_exception_only(error))
    return lines.encode(errors="replace").decode().strip()


def describe(error: BaseException) -> dict[str, str]:
    """Say in an answer what went wrong."""
    kind = next(kind for kind, type_ in KINDS.items() if isinstance(error, type_))
    if isinstance(error, KeyError | IndexError):  # it is a LookupError, but a function of the user's may well raise it
        kind = "error"
    said = str(error).encode(errors="replace").decode()  # a file's name may have what no text has
    return {"kind": kind, "type": type(error).__name__, "message": said}


def main() -> None:
    """Serve one adapter until stdin ends. What the adapter forks finds neither stream: it must not wait for their locks."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    try:
        adapter = load(sys.argv[1])
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
    Host(adapter, requests, answers).serve()
    os._exit(0)  # threads that still wait for a backend are of no more use


if __name__ == "__main__":
    main()
