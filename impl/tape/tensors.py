"""A tensor: an array, and how it came to be.

`apply` is the only place where something is recorded. It computes with a rule from the table; if this thread records, and
some input requires a gradient, the result hangs on a new node. A tensor without such a past is a *leaf*.

The array of a tensor may be replaced (`x.data = ...`), but what has been recorded keeps the arrays it saw. They are not
copied, so do not write into an array that took part in a recording: there are no version counters here to notice.

Numbers in expressions take the dtype of the tensor they meet; otherwise dtypes combine as numpy has it. Two tensors are equal
if they are the same one: they are keys of mappings from leaves to gradients.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from farref.impl.tape.graph import Accumulate, Array, Edge, Gradient, Hooks, Node, Operation
from farref.impl.tape.mode import is_grad_enabled, no_grad
from farref.impl.tape.passes import gradients
from farref.impl.tape.rules import Rule
from farref.impl.tape.table import RULES
from farref.impl.user_code import watched

Dim = int | tuple[int, ...] | None
DIFFERENTIABLE: Final = (np.dtype(np.float32), np.dtype(np.float64))

_keys: Final = itertools.count()
_new_nodes: Final = watched(threading.RLock(), "_new_nodes")
"""Re-entrant: a collector may run inside, and whatever it finalizes."""
os.register_at_fork(before=_new_nodes.acquire, after_in_parent=_new_nodes.release, after_in_child=_new_nodes.release)


class Handle:
    """Takes a hook away again."""

    def __init__(self, hooks: Hooks, key: int) -> None:
        self._hooks = hooks
        self._key = key

    def remove(self) -> None:
        """Take the hook away; once is enough."""
        self._hooks.pop(self._key, None)


class Tensor:
    """An array with a past. `grad` is a leaf's gradient, summed over passes, or `None` if no pass has reached it."""

    __slots__ = ("__weakref__", "_accumulate", "_edge", "_hooks", "_requires_grad", "data", "grad")
    __array_ufunc__ = None  # so that array * tensor comes here, and does not make an array of tensors

    def __init__(self, data: npt.ArrayLike, requires_grad: bool = False) -> None:
        self.data: Array = data if type(data) is np.ndarray else np.asarray(data)
        self.grad: Tensor | None = None
        self._edge: Edge | None = None
        self._accumulate: Callable[[], Accumulate | None] | None = None
        self._hooks: Hooks | None = None
        self._requires_grad = False
        if requires_grad:
            self.requires_grad = True

    @property
    def requires_grad(self) -> bool:
        """Whether passes compute its gradient."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, required: bool) -> None:
        """Ask for the gradient of a leaf, or no longer: only floats have one."""
        if self._edge is not None and not required:
            raise RuntimeError("only a leaf can stop requiring its gradient; use detach() for the value alone")
        if required and self.data.dtype not in DIFFERENTIABLE:
            raise TypeError(f"only tensors of float32 and float64 can require gradients, this one is {self.data.dtype}")
        self._requires_grad = required

    @property
    def gradient_edge(self) -> Edge | None:
        """Where its gradient goes, or `None` if it requires none."""
        if self._edge is not None or not self._requires_grad:
            return self._edge
        return Edge((self._accumulate and self._accumulate()) or self._new_accumulate(), 0)

    def _new_accumulate(self) -> Accumulate:
        """Make the node of a leaf, unless another thread was faster: one pass must not see a leaf as two."""
        with _new_nodes:
            node = self._accumulate and self._accumulate()
            if node is None:
                node = Accumulate(self)
                node.hooks = self._hooks
                self._accumulate = weakref.ref(node)
            return node

    @property
    def grad_fn(self) -> Node | None:
        """The node it is a result of; a leaf has none."""
        return None if self._edge is None else self._edge.node

    @property
    def is_leaf(self) -> bool:
        """Whether it is not the result of something recorded."""
        return self._edge is None

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)

    def numpy(self) -> Array:
        """The array."""
        return self.data

    def item(self) -> Any:
        """The only element, as a number."""
        return self.data.item()

    def detach(self) -> Tensor:
        """The same values without the past."""
        return Tensor(self.data)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Handle:
        """Show this tensor's gradient to a function in each pass, once it is complete; what it returns takes its place.

        The function must not write into what it is shown, as others may have been given the same array.
        """
        edge = self.gradient_edge
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")

        def on_array(gradient: Array) -> Gradient:
            with no_grad():
                replaced = hook(Tensor(gradient))
            return None if replaced is None else replaced.data

        if edge.node.hooks is None:
            edge.node.hooks = {}
        if self._edge is None:
            self._hooks = edge.node.hooks  # the node of a leaf comes and goes, its hooks stay
        key = next(_keys)
        edge.node.hooks[key] = (edge.slot, on_array)
        return Handle(edge.node.hooks, key)

    def backward(self, gradient: Tensor | None = None, retain_graph: bool = False) -> None:
        """Add to `.grad` of each leaf that this came from; `gradient` may be left out for one element."""
        backward([self], [gradient], retain_graph)

    def __repr__(self) -> str:
        origin = f", grad_fn={self.grad_fn}" if self._edge else ", requires_grad=True" if self._requires_grad else ""
        return f"Tensor({self.data}{origin})"

    def __bool__(self) -> bool:
        return bool(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Any:
        return (self[position] for position in range(len(self)))

    def __add__(self, other: Any) -> Tensor:
        return apply(_ADD, self, as_tensor(other, self))

    def __radd__(self, other: Any) -> Tensor:
        return apply(_ADD, as_tensor(other, self), self)

    def __sub__(self, other: Any) -> Tensor:
        return apply(_SUB, self, as_tensor(other, self))

    def __rsub__(self, other: Any) -> Tensor:
        return apply(_SUB, as_tensor(other, self), self)

    def __mul__(self, other: Any) -> Tensor:
        return apply(_MUL, self, as_tensor(other, self))

    def __rmul__(self, other: Any) -> Tensor:
        return apply(_MUL, as_tensor(other, self), self)

    def __truediv__(self, other: Any) -> Tensor:
        return apply(_DIV, self, as_tensor(other, self))

    def __rtruediv__(self, other: Any) -> Tensor:
        return apply(_DIV, as_tensor(other, self), self)

    def __matmul__(self, other: Any) -> Tensor:
        return apply(_MATMUL, self, as_tensor(other, self))

    def __rmatmul__(self, other: Any) -> Tensor:
        return apply(_MATMUL, as_tensor(other, self), self)

    def __neg__(self) -> Tensor:
        return apply(RULES["neg"], self)

    def __abs__(self) -> Tensor:
        return apply(RULES["abs"], self)

    def __pow__(self, exponent: float) -> Tensor:
        if not isinstance(exponent, int | float):
            raise TypeError("pow: the exponent must be a number")
        return apply(RULES["pow"], self, exponent=exponent)

    def __getitem__(self, index: Any) -> Tensor:
        parts = index if isinstance(index, tuple) else (index,)
        plain = tuple(part.data if isinstance(part, Tensor) else part for part in parts)
        return apply(RULES["getitem"], self, index=plain)

    def sum(self, dim: Dim = None, keepdim: bool = False) -> Tensor:
        """Add up all elements, or those along some dimensions."""
        return apply(RULES["sum"], self, dim=dim, keepdim=keepdim)

    def mean(self, dim: Dim = None, keepdim: bool = False) -> Tensor:
        """Take the mean of all elements, or of those along some dimensions."""
        return apply(RULES["mean"], self, dim=dim, keepdim=keepdim)

    def amax(self, dim: Dim = None, keepdim: bool = False) -> Tensor:
        """Take the greatest element; several of them share the gradient equally."""
        return apply(RULES["amax"], self, dim=dim, keepdim=keepdim)

    def amin(self, dim: Dim = None, keepdim: bool = False) -> Tensor:
        """Take the least element; several of them share the gradient equally."""
        return apply(RULES["amin"], self, dim=dim, keepdim=keepdim)

    def reshape(self, *shape: int) -> Tensor:
        """Lay the same elements out in another shape; one length may be -1."""
        return apply(RULES["reshape"], self, shape=shape)

    def permute(self, *dims: int) -> Tensor:
        """Put the dimensions in another order."""
        return apply(RULES["permute"], self, dims=tuple(dim % max(self.data.ndim, 1) for dim in dims))

    @property
    def T(self) -> Tensor:  # noqa: N802 (PyTorch's and numpy's name)
        """The transpose: all dimensions in reverse order."""
        return self.permute(*reversed(range(self.data.ndim)))


_ADD, _SUB, _MUL, _DIV, _MATMUL = (RULES[name] for name in ("add", "sub", "mul", "div", "matmul"))


def as_tensor(value: Any, like: Tensor) -> Tensor:
    """Take a tensor as it is, an array as a constant, and a number as a constant of the dtype of what it meets."""
    if isinstance(value, Tensor):
        return value
    dtype = like.data.dtype if isinstance(value, int | float) and like.data.dtype in DIFFERENTIABLE else None
    return Tensor(np.asarray(value, dtype))


def apply(rule: Rule, *inputs: Tensor, **parameters: Any) -> Tensor:
    """Compute with a rule, and record it if a gradient may be asked for."""
    arrays = [one.data for one in inputs]
    try:
        result = Tensor(rule.forward(*arrays, **parameters))
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{rule.name}: {error}") from error
    if is_grad_enabled():
        edges = [one.gradient_edge if one._edge is None else one._edge for one in inputs]
        if any(edges):
            data = result.data
            node = Operation(rule, rule.save(data, *arrays), parameters, edges, (data.shape, data.dtype))
            result._edge, result._requires_grad = Edge(node, 0), True
    return result


def backward(
    tensors: Sequence[Tensor], grad_tensors: Sequence[Tensor | None] | None = None, retain_graph: bool = False
) -> None:
    """Walk back from some tensors, and add what is found to `.grad` of the leaves."""
    for leaf, gradient in gradients(tensors, grad_tensors, retain_graph).items():
        # A copy, as two leaves may have been given the same array, and theirs is theirs.
        leaf.grad = Tensor(gradient.copy() if leaf.grad is None else leaf.grad.data + gradient)
