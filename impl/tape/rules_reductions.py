"""Rules for what takes many elements together: products of matrices, sums, extremes, and the two soft ones."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from farref.impl.tape.rules import Rule, both, inputs, output, shapes

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
Dim = int | Shape | None


def _spread(g: Array, shape: Shape, dim: Dim, keepdim: bool) -> Array:
    """Give each element the gradient of the result it went into: a real array, as matmul is slow on stretched ones."""
    spread = np.empty(shape, g.dtype)
    spread[...] = g if dim is None or keepdim else np.expand_dims(g, dim)
    return spread


def _mean(g: Array, shape: Shape, dim: Dim, keepdim: bool) -> Array:
    each = math.prod(shape) // max(g.size, 1)
    return _spread(g / max(each, 1), shape, dim, keepdim)


def _extreme(g: Array, y: Array, x: Array, dim: Dim, keepdim: bool) -> Array:
    chosen = x == _spread(y, x.shape, dim, keepdim)
    shared: Array = chosen / chosen.sum(axis=dim, keepdims=True, dtype=g.dtype)
    return _spread(g, x.shape, dim, keepdim) * shared


def _left(g: Array, a: Array, b: Array) -> Array:
    """The gradient of a in a @ b. A vector counts as a matrix of one row (a) or one column (b)."""
    product: Array
    if a.ndim == b.ndim == 2:  # as most often
        product = g @ b.T
        return product
    g = np.expand_dims(g, -1) if b.ndim == 1 else g
    g = np.expand_dims(g, -2) if a.ndim == 1 else g
    product = g @ np.atleast_2d(b) if b.ndim == 1 else g @ np.swapaxes(b, -1, -2)
    return product[..., 0, :] if a.ndim == 1 else product


def _right(g: Array, a: Array, b: Array) -> Array:
    """The gradient of b in a @ b."""
    product: Array
    if a.ndim == b.ndim == 2:
        product = a.T @ g
        return product
    g = np.expand_dims(g, -1) if b.ndim == 1 else g
    g = np.expand_dims(g, -2) if a.ndim == 1 else g
    product = np.expand_dims(a, -1) @ g if a.ndim == 1 else np.swapaxes(a, -1, -2) @ g
    return product[..., 0] if b.ndim == 1 else product


def _softmax(x: Array, dim: int) -> Array:
    e: Array = np.exp(x - x.max(axis=dim, keepdims=True, initial=-math.inf))
    e /= e.sum(axis=dim, keepdims=True)
    return e


def _log_softmax(x: Array, dim: int) -> Array:
    shifted: Array = x - x.max(axis=dim, keepdims=True, initial=-math.inf)
    shifted -= np.log(np.exp(shifted).sum(axis=dim, keepdims=True))
    return shifted


REDUCTIONS: Final = (
    Rule("matmul", np.matmul, inputs, (_left, _right)),
    Rule("sum", lambda x, dim, keepdim: x.sum(axis=dim, keepdims=keepdim), shapes, (_spread,)),
    Rule("mean", lambda x, dim, keepdim: x.mean(axis=dim, keepdims=keepdim), shapes, (_mean,)),
    Rule("amax", lambda x, dim, keepdim: x.max(axis=dim, keepdims=keepdim), both, (_extreme,)),
    Rule("amin", lambda x, dim, keepdim: x.min(axis=dim, keepdims=keepdim), both, (_extreme,)),
    Rule("softmax", _softmax, output, (lambda g, y, dim: y * (g - (g * y).sum(axis=dim, keepdims=True)),)),
    Rule("log_softmax", _log_softmax, output, (lambda g, y, dim: g - np.exp(y) * g.sum(axis=dim, keepdims=True),)),
)
