"""Which methods of a value another worker may call, through the proxies of an RRef.

The rule is that of functions (`functions`). A class is callable from afar if it was registered with `@function` or lives in a
module that the worker allows, and so are the public methods of its objects. Values of Python's own types have no methods that
reach beyond them. Of an array those are callable that compute: `tofile` and `dump` write files, and are not.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from farref.impl.errors import RefusedFunction
from farref.impl.functions import Functions, name_of
from farref.impl.tape.tensors import Tensor

PLAIN: Final = frozenset(
    {bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, type(None), Tensor}
)
LOOKING: Final = frozenset({"format", "format_map"})
"""The methods of text that look into what they are given."""
# fmt: off
COMPUTING: Final = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "byteswap", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "item", "max", "mean", "min", "nonzero",
    "partition", "prod", "put", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std",
    "sum", "swapaxes", "take", "tobytes", "tolist", "trace", "transpose", "var", "view",
})
# fmt: on
"""The methods of numpy's arrays and numbers that compute, and do nothing else."""


def find_method(value: Any, method: str, functions: Functions) -> Any:
    """Find a public method of a value, if another worker may call it."""
    kind = type(value)
    if method.startswith("_"):
        raise AttributeError(f"{method} is not public")
    if _is_allowed(kind, method, functions) or not hasattr(kind, method):
        return getattr(value, method)
    raise RefusedFunction(
        f"{method} of a {kind.__module__}.{kind.__qualname__} may not be called by others: "
        f"mark the class with @function, or launch(allow=[{kind.__module__!r}])"
    )


def _is_allowed(kind: type, method: str, functions: Functions) -> bool:
    if kind in PLAIN:
        return method not in LOOKING
    if issubclass(kind, np.ndarray | np.generic):
        return method in COMPUTING
    return functions.is_allowed(name_of(kind))
