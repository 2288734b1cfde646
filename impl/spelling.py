"""Older names of parameters. They are accepted beside PyTorch's, so that programs written with them still run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def also_called(**older: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Let parameters be given by older names too: `also_called(older="newer")`. Both at once are refused."""

    def accept(target: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(target)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            for old, new in older.items():
                if old in kwargs:
                    if new in kwargs:
                        raise TypeError(f"{target.__name__}() got {new} twice: {old} is an older name of it")
                    kwargs[new] = kwargs.pop(old)
            return target(*args, **kwargs)

        return call

    return accept
