"""The functions of the tape that are not operators or methods of a tensor, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from farref.impl.tape.graph import Array, Edge, Receive
from farref.impl.tape.table import RULES
from farref.impl.tape.tensors import Tensor, apply, as_tensor


def tensor(data: npt.ArrayLike, dtype: npt.DTypeLike | None = None, requires_grad: bool = False) -> Tensor:
    """Make a leaf with a copy of some values."""
    return Tensor(np.array(data, dtype), requires_grad)


def receive(arrays: Sequence[Array]) -> tuple[Receive, list[Tensor]]:
    """Make tensors of what came in a message; a walk delivers their gradients together, to be sent back."""
    node = Receive(tuple((array.shape, array.dtype) for array in arrays))
    tensors = [Tensor(array, requires_grad=True) for array in arrays]
    for slot, one in enumerate(tensors):
        one._edge = Edge(node, slot)
    return node, tensors


def exp(x: Tensor) -> Tensor:
    """The exponential of each element."""
    return apply(RULES["exp"], x)


def log(x: Tensor) -> Tensor:
    """The natural logarithm of each element."""
    return apply(RULES["log"], x)


def sqrt(x: Tensor) -> Tensor:
    """The square root of each element."""
    return apply(RULES["sqrt"], x)


def sin(x: Tensor) -> Tensor:
    """The sine of each element."""
    return apply(RULES["sin"], x)


def cos(x: Tensor) -> Tensor:
    """The cosine of each element."""
    return apply(RULES["cos"], x)


def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent of each element."""
    return apply(RULES["tanh"], x)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
    return apply(RULES["sigmoid"], x)


def relu(x: Tensor) -> Tensor:
    """Each element, or 0 if it is negative."""
    return apply(RULES["relu"], x)


def softmax(x: Tensor, dim: int) -> Tensor:
    """Exponentials that are scaled to add up to 1 along a dimension."""
    return apply(RULES["softmax"], x, dim=dim)


def log_softmax(x: Tensor, dim: int) -> Tensor:
    """The logarithm of softmax, computed without leaving the range of floats."""
    return apply(RULES["log_softmax"], x, dim=dim)


def maximum(a: Tensor, b: Any) -> Tensor:
    """The greater of two, element by element; equal ones share the gradient."""
    return apply(RULES["maximum"], a, as_tensor(b, a))


def minimum(a: Tensor, b: Any) -> Tensor:
    """The lesser of two, element by element; equal ones share the gradient."""
    return apply(RULES["minimum"], a, as_tensor(b, a))


def where(condition: Tensor | npt.ArrayLike, a: Tensor, b: Any) -> Tensor:
    """The first where a condition holds, the second elsewhere."""
    holds = condition.data if isinstance(condition, Tensor) else np.asarray(condition)
    return apply(RULES["where"], Tensor(holds.astype(np.bool_)), a, as_tensor(b, a))


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices, of stacks of them, or of vectors."""
    return a @ b


def broadcast_to(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Repeat along dimensions of length 1, and along new ones in front."""
    return apply(RULES["broadcast_to"], x, shape=shape)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along a dimension."""
    return apply(RULES["cat"], *tensors, dim=dim)


def stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors of one shape along a new first dimension."""
    return cat([one.reshape(1, *one.shape) for one in tensors])
