"""Which functions another worker may call, and by what name.

A call carries a name, never code. The name is `module:qualname`. It is resolved on the callee, and only if the function was
registered there with `@function`, or lives in a module that the callee allows. A name leads to a function defined in that
very module: `allowed_module:os.system` is refused like everything else.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import FunctionType
from typing import Any, Final, TypeVar

from farref.impl.errors import RefusedFunction

Function = TypeVar("Function", bound=Callable[..., Any])

SCRIPT: Final = "__main__"
SCRIPT_IN_A_CHILD: Final = "__mp_main__"
"""What a spawned process calls the script that started it."""

_registered: Final[dict[str, Callable[..., Any]]] = {}
_lock: Final = threading.Lock()


def function(target: Function) -> Function:
    """Register a function, so that other workers may call it on this one."""
    with _lock:
        _registered[name_of(target)] = target
    return target


def name_of(target: Callable[..., Any]) -> str:
    """Say by what name a function is called elsewhere; refuse what has none."""
    # Of a plain function it is remembered. Of anything else, a method say, the memory would keep its object alive.
    return _known_name(target) if type(target) is FunctionType else _name(target)


def _name(target: Callable[..., Any]) -> str:
    module, qualname = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if not callable(target) or not module or not qualname or "<" in qualname:
        raise RefusedFunction(f"{target!r} has no name that another worker could find it by")
    return f"{SCRIPT if module == SCRIPT_IN_A_CHILD else module}:{qualname}"


_known_name: Final = lru_cache(maxsize=1024)(_name)


class Functions:
    """Resolves names, for one worker."""

    def __init__(self, allowed_modules: Iterable[str] = ()) -> None:
        self._allowed = frozenset(allowed_modules)
        self._resolved: dict[str, Callable[..., Any]] = {}

    def resolve(self, name: str) -> Callable[..., Any]:
        """Find the function a name stands for; import nothing that is not allowed."""
        found = self._resolved.get(name) or _registered.get(name)
        if found is None:
            found = self._resolved[name] = self._import(name)
        return found

    def is_known(self, name: str) -> bool:
        """Say whether a name has led to a function, or is registered."""
        return name in self._resolved or name in _registered

    def _import(self, name: str) -> Callable[..., Any]:
        module_name, _, qualname = name.partition(":")
        if module_name not in self._allowed:
            raise RefusedFunction(f"{name} is not registered here, and its module is not allowed")
        found: Any = importlib.import_module(module_name)
        if name in _registered:
            return _registered[name]
        for part in qualname.split("."):
            found = getattr(found, part, None)
        if not callable(found) or name_of(found) != name:
            raise RefusedFunction(f"{name} is no function of that module")
        return found  # type: ignore[no-any-return]
