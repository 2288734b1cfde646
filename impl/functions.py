"""Which functions another worker may call, and by what name.

A call carries a name, never code. The name is `module:qualname`. It is resolved on the callee, and only if the function was
registered there with `@function`, or lives in a module that the callee allows. A class that is registered brings its public
methods along. A name leads to a function defined in that very module: `allowed_module:os.system` is refused like everything
else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from types import FunctionType
from typing import Any, Final, TypeVar

from farref.impl.errors import RefusedFunction
from farref.impl.prompt import ADVICE, has_script
from farref.impl.worker.futures import Future

Function = TypeVar("Function", bound=Callable[..., Any])

SCRIPT: Final = "__main__"
SCRIPT_IN_A_CHILD: Final = "__mp_main__"
"""What a spawned process calls the script that started it."""

NAME_BYTES_MAX: Final = 1024
SHOWN: Final = 80

_registered: Final[dict[str, Callable[..., Any]]] = {}


def function(target: Function) -> Function:
    """Register a function, so that other workers may call it on this one."""
    _registered[name_of(target)] = target
    return target


def async_execution(fn: Function) -> Function:
    """Say that a function returns a future, whose value is what its caller gets. No thread of the callee waits for it.

    A future that any function returns is waited for here. The mark makes sure that it is one, as in PyTorch. It comes below
    `@function`, `@staticmethod` and `@classmethod`.
    """

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = fn(*args, **kwargs)
        if not isinstance(result, Future):
            raise TypeError(
                f"{fn.__qualname__} is marked with @async_execution: it returns a Future, and not a {type(result).__qualname__}"
            )
        return result

    return call  # type: ignore[return-value]


def name_of(target: Callable[..., Any]) -> str:
    """Say by what name a function is called elsewhere; refuse what has none."""
    # Of a plain function it is remembered. Of anything else, a method say, the memory would keep its object alive.
    return _known_name(target) if type(target) is FunctionType else _name(target)


def _name(target: Callable[..., Any]) -> str:
    module, qualname = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if not callable(target) or not module or not qualname or "<" in qualname:
        raise RefusedFunction(
            f"{target!r} has no name that another worker could find it by: use def, at the top of a module"
        )
    return f"{SCRIPT if module == SCRIPT_IN_A_CHILD else module}:{qualname}"


_known_name: Final = lru_cache(maxsize=1024)(_name)


def name_for(target: Callable[..., Any] | str) -> str:
    """Say what name a call carries for a function, or for a name; refuse one that cannot travel, before anything is begun."""
    return _known_name_for(target) if type(target) is FunctionType else _name_for(target)


def _name_for(target: Callable[..., Any] | str) -> str:
    name = target if isinstance(target, str) else name_of(target)
    if len(name) <= NAME_BYTES_MAX and name.isascii():
        return name
    try:
        is_short = len(name.encode()) <= NAME_BYTES_MAX
    except UnicodeEncodeError:
        raise RefusedFunction(f"{name[:SHOWN]!a} is no name that can be written in UTF-8") from None
    if not is_short:
        raise RefusedFunction(f"{name[:SHOWN]!a}… is no name of a function: it has more than {NAME_BYTES_MAX} bytes")
    return name


_known_name_for: Final = lru_cache(maxsize=1024)(_name_for)


def _method(name: str) -> Callable[..., Any] | None:
    """Find a public method of a registered class."""
    owner, _, method = name.rpartition(".")
    kind = _registered.get(owner)
    if not isinstance(kind, type) or method.startswith("_"):
        return None
    found = getattr(kind, method, None)
    return found if callable(found) and name_of(found) == name else None


class Functions:
    """Resolves names, for one worker."""

    def __init__(self, allowed_modules: Iterable[str] = (), worker: str = "this worker") -> None:
        self._allowed = frozenset(allowed_modules)
        self._worker = worker
        self._resolved: dict[str, Callable[..., Any]] = {}

    def resolve(self, name: str) -> Callable[..., Any]:
        """Find the function a name stands for; import nothing that is not allowed."""
        found = self._resolved.get(name) or _registered.get(name)
        if found is None:
            found = self._resolved[name] = _method(name) or self._import(name)
        return found

    def is_allowed(self, name: str) -> bool:
        """Say whether something of this name may be called here. Nothing is imported."""
        return name in _registered or name.partition(":")[0] in self._allowed

    def is_known(self, name: str) -> bool:
        """Say whether a name has led to a function, or is registered."""
        return name in self._resolved or name in _registered

    def _import(self, name: str) -> Callable[..., Any]:
        module_name, _, qualname = name.partition(":")
        is_typed = module_name == SCRIPT and not has_script()
        if module_name not in self._allowed:
            if is_typed:
                raise RefusedFunction(f"{name} is not registered on {self._worker}: {ADVICE}")
            raise RefusedFunction(
                f"{name} is not registered on {self._worker}, and its module is not allowed there: "
                f"mark it with @function in a module that {self._worker} imports, or launch(allow=[{module_name!r}])"
            )
        found: Any = importlib.import_module(module_name)
        if name in _registered:
            return _registered[name]
        for part in qualname.split("."):
            found = getattr(found, part, None)
        if not callable(found) or name_of(found) != name:
            advice = f": {ADVICE}" if is_typed else ""
            raise RefusedFunction(f"{name} is no function of that module on {self._worker}{advice}")
        return found  # type: ignore[no-any-return]
