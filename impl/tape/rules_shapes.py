"""Rules for what moves elements and does not change them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from farref.impl.tape.rules import Rule, nothing, shapes

Array = npt.NDArray[Any]
Shape = tuple[int, ...]


def _put_back(g: Array, shape: Shape, index: Any) -> Array:
    """Zeros, with the gradient at the places taken; added up where a place was taken twice."""
    whole = np.zeros(shape, g.dtype)
    if _takes_each_once(index):
        whole[index] = g
    else:
        np.add.at(whole, index, g)
    return whole


def _takes_each_once(index: Any) -> bool:
    """Only arrays and lists of integers can name a place twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(part, np.ndarray | list) for part in parts)


def _piece(position: int, g: Array, *shapes: Shape, dim: int) -> Array:
    """The part of the gradient where one of the joined arrays lies."""
    start = sum(shape[dim] for shape in shapes[:position])
    index: list[Any] = [slice(None)] * g.ndim
    index[dim] = slice(start, start + shapes[position][dim])
    piece: Array = g[tuple(index)]
    return piece


SHAPES: Final = (
    Rule("reshape", lambda x, shape: x.reshape(shape), shapes, (lambda g, before, shape: g.reshape(before),)),
    Rule("permute", lambda x, dims: x.transpose(dims), nothing, (lambda g, dims: g.transpose(np.argsort(dims)),)),
    Rule("broadcast_to", lambda x, shape: np.broadcast_to(x, shape), nothing, (lambda g, shape: g,)),
    Rule("getitem", lambda x, index: x[index], shapes, (_put_back,)),
    Rule("cat", lambda *arrays, dim: np.concatenate(arrays, axis=dim), shapes, _piece),
)
