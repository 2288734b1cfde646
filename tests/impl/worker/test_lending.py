"""Memory is lent to those that look at memory, and to nobody else."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np

from farref.impl.core.ids import WorkerId
from farref.impl.worker.lending import Lending

A, B, C = map(WorkerId, range(3))


def lending() -> Lending:
    """Make the lending of A, which has an arena. B shows one of its own, and C has declined."""
    arena = SimpleNamespace(lend=lambda _array, _target: 0)
    core = SimpleNamespace(dead={})
    worker: Any = SimpleNamespace(
        rank=A, names={}, settings=None, functions=None, arena=arena, lock=threading.Lock(), core=core
    )
    return Lending(worker, {B: None})


def test_who_shows_no_memory_is_lent_none() -> None:
    array = np.zeros(8)
    assert lending().lend(array, B) == 0
    assert lending().lend(array, C) is None
    assert lending().lend(array, A) is None
