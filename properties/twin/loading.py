"""A backend of one's own, by where it is: `mine.py`, `mine.py:Class` or `package.module:Class`.

Whatever is wrong with it is told in one line, before anything is run.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.backend import Backend
from farref.words import in_a_line

METHODS: Final = ("start", "perform", "attempt", "observe", "close")
"""What a backend must have, as `Backend` says; `OwnBackend` brings the last but one, and the last."""

HOW: Final = "derive it from farref.properties.twin.own.OwnBackend"


class BackendError(Exception):
    """What was given is not a backend; the message says why, in one line."""


def is_place(given: str) -> bool:
    """Say whether this may be the place of a backend, and not its name."""
    return given.endswith(".py") or ":" in given


@dataclass(frozen=True)
class Placed:
    """Makes backends of a class that is found at a place, in whatever process it is asked to."""

    place: str
    protocol: str

    def __call__(self) -> Backend:
        """Make one."""
        kind = load_class(self.place, self.protocol)
        try:
            backend: Backend = kind()
        except Exception as error:
            raise BackendError(f"{self.place}: {kind.__name__}() fails: {in_a_line(error)}") from error
        backend.start = self._told(backend.start)  # type: ignore[method-assign, assignment]
        return backend

    def _told(self, start: Callable[[Any], None]) -> Callable[[Any], None]:
        def started(bounds: Any) -> None:
            try:
                start(bounds)
            except Exception as error:
                raise BackendError(f"{self.place}: start({bounds}) fails: {in_a_line(error)}") from error

        return started

    @property
    def fixed(self) -> Mapping[str, Any]:
        """The bounds that are the same in all its worlds."""
        fixed: Mapping[str, Any] = getattr(load_class(self.place, self.protocol), "fixed", {})
        return fixed


def load_class(place: str, protocol: str) -> type:
    """Find the class of a backend, and see that it can be one for this protocol."""
    where, _, wanted = place.rpartition(":") if ":" in place else (place, "", "")
    module = _module_at(where)
    kind = _wanted(place, module, wanted) if wanted else _only_backend(place, module)
    _refuse(place, kind, protocol)
    return kind


def _module_at(where: str) -> ModuleType:
    try:
        return _module_in(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except BackendError:
        raise
    except (Exception, SystemExit) as error:
        raise BackendError(f"{where} cannot be imported: {in_a_line(error)}") from error


def _module_in(path: Path) -> ModuleType:
    if not path.is_file():
        raise BackendError(f"{path} is not a file")
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path.resolve()):
        return known
    sys.path.insert(0, str(path.parent.resolve()))  # it may import its neighbours
    found = importlib.util.spec_from_file_location(path.stem, path.resolve())
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    sys.modules[path.stem] = module
    return module


def _wanted(place: str, module: ModuleType, wanted: str) -> type:
    kind = getattr(module, wanted, None)
    if not isinstance(kind, type):
        there = "nothing" if kind is None else "no class"
        raise BackendError(f"{place}: {there} is called {wanted!r} there; there are {_names(_classes(module))}")
    return kind


def _only_backend(place: str, module: ModuleType) -> type:
    classes = _classes(module)
    found = [one for one in classes if callable(getattr(one, "perform", None))]
    if not found:
        raise BackendError(f"{place} has no class with a method `perform`; write one, and {HOW}")
    if len(found) > 1:
        raise BackendError(f"{place} has several backends, {_names(found)}; say {place}:{found[0].__name__}")
    return found[0]


def _classes(module: ModuleType) -> list[type]:
    return [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]


def _names(classes: list[type]) -> str:
    return ", ".join(one.__name__ for one in classes) or "no classes"


def _refuse(place: str, kind: type, protocol: str) -> None:
    """Refuse a class that cannot be a backend for a protocol."""
    abstract: frozenset[str] = getattr(kind, "__abstractmethods__", frozenset())
    missing = [one for one in METHODS if one in abstract or not callable(getattr(kind, one, None))]
    if missing:
        raise BackendError(f"{place}: {kind.__name__} is not a backend, it lacks {', '.join(missing)}; {HOW}")
    spoken = getattr(kind, "protocol", protocol)
    if spoken != protocol:
        known = f"not {protocol}" if spoken in PROTOCOLS else f"known are {', '.join(PROTOCOLS)}"
        raise BackendError(f"{place}: {kind.__name__} speaks {spoken}; {known}")
    bounds = [one.name for one in fields(PROTOCOLS[protocol].bounds)]
    unknown = [name for name in getattr(kind, "fixed", {}) if name not in bounds]
    if unknown:
        raise BackendError(
            f"{place}: {kind.__name__}.fixed names {unknown[0]!r}; the bounds of {protocol} are {', '.join(bounds)}"
        )
