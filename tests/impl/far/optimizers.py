"""Optimizers for the tests: slow ones, and ones that fail."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from farref.impl import get_worker_info
from farref.impl.tape import SGD, Tensor


class Watched(SGD):
    """An optimizer that is slow, and notes if somebody else steps meanwhile."""

    stepping = 0
    together = 0

    def step(self, gradients: Mapping[Tensor, Any] | None = None) -> None:
        Watched.stepping += 1
        time.sleep(0.05)
        Watched.together = max(Watched.together, Watched.stepping)
        super().step(gradients)
        Watched.stepping -= 1


def steps_together() -> int:
    return Watched.together


class Failing(SGD):
    """An optimizer that cannot step."""

    def step(self, gradients: Mapping[Tensor, Any] | None = None) -> None:
        raise ValueError(f"no step on {get_worker_info().name}, with {len(gradients or {})} gradients")


class Unmakeable(SGD):
    """An optimizer that cannot be made on one of the workers."""

    def __init__(self, params: Iterable[Tensor], lr: float = 1.0) -> None:
        if get_worker_info().name == "C":
            raise ValueError("not on C")
        super().__init__(params, lr)


class NoOptimizer:
    """Nothing that steps."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None: ...
