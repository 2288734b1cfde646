"""One or more cases for each rule of the table, and how the gradients of a case are checked.

The tape has PyTorch's names, so one function serves for both: `of_tape` is given the tape or torch as its first argument.
`of_numpy` is the same function written for numpy, for finite differences and for HIPS autograd.

The values of a case are all different, far apart and not near 0, so no case sits on a kink; what happens there is said by
tests of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from farref.impl import tape

Array = npt.NDArray[Any]
Shapes = tuple[tuple[int, ...], ...]
STEP: Final = 1e-5


@dataclass(frozen=True)
class Case:
    """A function of some arrays that uses one rule. `sample` are shapes on which no gradient is empty."""

    rule: str
    of_tape: Callable[..., Any]
    of_numpy: Callable[..., Any]
    sample: Shapes
    shapes: st.SearchStrategy[Shapes]
    positive: bool = False


def several(count: int) -> st.SearchStrategy[Shapes]:
    """Shapes that can be broadcast to a common one, with scalars and empty ones among them."""
    found = arrays.mutually_broadcastable_shapes(num_shapes=count, min_side=0, max_dims=3, max_side=3)
    return found.map(lambda drawn: drawn.input_shapes)


def one(min_dims: int = 0, min_side: int = 0) -> st.SearchStrategy[Shapes]:
    """One shape."""
    found = arrays.array_shapes(min_dims=min_dims, max_dims=3, min_side=min_side, max_side=3)
    return st.tuples(st.just(()) | found if min_dims == 0 else found)


def products() -> st.SearchStrategy[Shapes]:
    """Shapes of two factors of a matmul: vectors, matrices and stacks."""
    signature: Any = np.matmul.signature
    found = arrays.mutually_broadcastable_shapes(signature=signature, min_side=0, max_dims=1, max_side=3)
    return found.map(lambda drawn: drawn.input_shapes)


def joinable() -> st.SearchStrategy[Shapes]:
    """Shapes of three matrices of the same height."""
    width = st.integers(0, 3)
    return st.tuples(width, st.tuples(width, width, width)).map(lambda drawn: tuple((drawn[0], w) for w in drawn[1]))


def fixed(*shapes: tuple[int, ...]) -> st.SearchStrategy[Shapes]:
    """Always the same shapes."""
    return st.just(shapes)


TWO: Final = ((2, 3), (3,))
REPEATED: Final = np.array([2, 0, 2])
MASK: Final = np.array([True, False, True])


def masked(module: Any) -> Any:
    """Make a condition for `where` that is broadcast."""
    return module.tensor([[True], [False]])


CASES: Final = (
    Case("add", lambda f, a, b: a + b, lambda np, a, b: a + b, TWO, several(2)),
    Case("sub", lambda f, a, b: a - b, lambda np, a, b: a - b, TWO, several(2)),
    Case("mul", lambda f, a, b: a * b, lambda np, a, b: a * b, TWO, several(2)),
    Case("div", lambda f, a, b: a / b, lambda np, a, b: a / b, TWO, several(2)),
    Case("add", lambda f, a: 2 + a, lambda np, a: a + 2, ((3,),), one()),
    Case("sub", lambda f, a: 2 - a, lambda np, a: 2 - a, ((3,),), one()),
    Case("div", lambda f, a: 2 / a, lambda np, a: 2 / a, ((3,),), one()),
    Case("neg", lambda f, a: -a, lambda np, a: -a, ((3,),), one()),
    Case("pow", lambda f, a: a**3, lambda np, a: a**3, ((3,),), one()),
    Case("pow", lambda f, a: a**-0.5, lambda np, a: a**-0.5, ((3,),), one(), positive=True),
    Case("abs", lambda f, a: abs(a), lambda np, a: abs(a), ((4,),), one()),
    Case("maximum", lambda f, a, b: f.maximum(a, b), lambda np, a, b: np.maximum(a, b), TWO, several(2)),
    Case("minimum", lambda f, a, b: f.minimum(a, b), lambda np, a, b: np.minimum(a, b), TWO, several(2)),
    Case(
        "where",
        lambda f, a, b: f.where(masked(f), a, b),
        lambda np, a, b: a * np.array([[1], [0]]) + b * np.array([[0], [1]]),
        ((2, 3), (3,)),
        fixed((2, 3), (2, 1)) | fixed((), (3,)) | fixed((2, 0), (1, 1)),
    ),
    Case("exp", lambda f, a: f.exp(a), lambda np, a: np.exp(a), ((3,),), one()),
    Case("log", lambda f, a: f.log(a), lambda np, a: np.log(a), ((3,),), one(), positive=True),
    Case("sqrt", lambda f, a: f.sqrt(a), lambda np, a: np.sqrt(a), ((3,),), one(), positive=True),
    Case("sin", lambda f, a: f.sin(a), lambda np, a: np.sin(a), ((3,),), one()),
    Case("cos", lambda f, a: f.cos(a), lambda np, a: np.cos(a), ((3,),), one()),
    Case("tanh", lambda f, a: f.tanh(a), lambda np, a: np.tanh(a), ((3,),), one()),
    Case("sigmoid", lambda f, a: f.sigmoid(a), lambda np, a: 1 / (1 + np.exp(-a)), ((3,),), one()),
    Case("relu", lambda f, a: f.relu(a), lambda np, a: np.maximum(a, 0), ((6,),), one()),
    Case("matmul", lambda f, a, b: a @ b, lambda np, a, b: np.matmul(a, b), ((2, 3), (3, 2)), products()),
    Case("matmul", lambda f, a, b: f.matmul(a, b), lambda np, a, b: a @ b, ((3,), (3,)), products()),
    Case("sum", lambda f, a: a.sum(), lambda np, a: np.sum(a), ((2, 3),), one()),
    Case("sum", lambda f, a: a.sum(dim=-1), lambda np, a: np.sum(a, axis=-1), ((2, 3),), one(1)),
    Case(
        "sum",
        lambda f, a: a.sum(dim=(0, -1), keepdim=True),
        lambda np, a: np.sum(a, axis=(0, -1), keepdims=True),
        ((2, 3),),
        one(2),
    ),
    Case("mean", lambda f, a: a.mean(), lambda np, a: np.mean(a), ((2, 3),), one(0, 1)),
    Case("mean", lambda f, a: a.mean(dim=0), lambda np, a: np.mean(a, axis=0), ((2, 3),), one(1, 1)),
    Case("amax", lambda f, a: a.amax(), lambda np, a: np.max(a), ((2, 3),), one(0, 1)),
    Case("amax", lambda f, a: a.amax(dim=-1), lambda np, a: np.max(a, axis=-1), ((2, 3),), one(1, 1)),
    Case("amin", lambda f, a: a.amin(), lambda np, a: np.min(a), ((2, 3),), one(0, 1)),
    Case(
        "amin",
        lambda f, a: a.amin(dim=0, keepdim=True),
        lambda np, a: np.min(a, axis=0, keepdims=True),
        ((2, 3),),
        one(1, 1),
    ),
    Case(
        "softmax",
        lambda f, a: f.softmax(a, dim=-1),
        lambda np, a: np.exp(a) / np.sum(np.exp(a), axis=-1, keepdims=True),
        ((2, 3),),
        one(1),
    ),
    Case(
        "log_softmax",
        lambda f, a: f.log_softmax(a, dim=0),
        lambda np, a: a - np.log(np.sum(np.exp(a), axis=0, keepdims=True)),
        ((2, 3),),
        one(1, 1),
    ),
    Case("reshape", lambda f, a: a.reshape(-1), lambda np, a: np.reshape(a, -1), ((2, 3),), one(0, 1)),
    Case("permute", lambda f, a: a.permute(1, -1, 0), lambda np, a: np.transpose(a, (1, 2, 0)), ((2, 3, 2),), one(3)),
    Case("permute", lambda f, a: a.T, lambda np, a: a.T, ((2, 3),), fixed((2, 3)) | fixed((0, 3))),
    Case(
        "broadcast_to",
        lambda f, a: f.broadcast_to(a, (2, 2, 3)),
        lambda np, a: a + np.zeros((2, 2, 3)),
        ((2, 1),),
        fixed((3,)) | fixed(()) | fixed((2, 1, 1)),
    ),
    Case("getitem", lambda f, a: a[0], lambda np, a: a[0], ((2, 3),), one(1, 1)),
    Case("getitem", lambda f, a: a[..., None, 1:], lambda np, a: a[..., None, 1:], ((2, 3),), one(1)),
    Case("getitem", lambda f, a: a[REPEATED], lambda np, a: a[REPEATED], ((3, 2),), fixed((3,)) | fixed((3, 0))),
    Case("getitem", lambda f, a: a[:, MASK], lambda np, a: a[:, MASK], ((2, 3),), fixed((2, 3)) | fixed((0, 3, 2))),
    Case(
        "cat",
        lambda f, a, b, c: f.cat([a, b, c], dim=-1),
        lambda np, a, b, c: np.concatenate([a, b, c], axis=-1),
        ((2, 1), (2, 2), (2, 3)),
        joinable(),
    ),
)


def values(case: Case, shapes: Sequence[tuple[int, ...]], seed: int) -> list[Array]:
    """Draw arrays of which no two elements are alike."""
    random = np.random.default_rng(seed)
    sizes = [math.prod(shape) for shape in shapes]
    drawn = random.permutation(np.linspace(0.3, 2.0, sum(sizes)))
    if not case.positive:
        drawn = drawn * random.choice([-1.0, 1.0], drawn.shape)
    pieces = np.split(drawn, np.cumsum(sizes)[:-1])
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def weights(result: Any, seed: int) -> Array:
    """Draw the gradient of a result."""
    return np.asarray(np.random.default_rng(seed + 1).normal(size=result.shape))


def found_by_the_tape(case: Case, inputs: Sequence[Array], seed: int) -> tuple[Array, list[Array]]:
    """Run a case forward and backward: its result, and the gradients of its inputs."""
    leaves = [tape.tensor(array, requires_grad=True) for array in inputs]
    result = case.of_tape(tape, *leaves)
    result.backward(tape.Tensor(weights(result, seed)))
    gradients = [leaf.grad.data for leaf in leaves if leaf.grad is not None]
    assert [gradient.shape for gradient in gradients] == [array.shape for array in inputs]
    assert all(gradient.dtype == array.dtype for gradient, array in zip(gradients, inputs, strict=True))
    return result.data, gradients


def check_by_differences(case: Case, shapes: Sequence[tuple[int, ...]], seed: int) -> None:
    """Compare a gradient with the change of the result along a random direction."""
    inputs = values(case, shapes, seed)
    result, gradients = found_by_the_tape(case, inputs, seed)
    np.testing.assert_allclose(result, case.of_numpy(np, *inputs), rtol=1e-12, atol=1e-12)
    for position, gradient in enumerate(gradients):
        direction = np.random.default_rng(seed + 2).normal(size=gradient.shape)
        ahead, behind = (
            case.of_numpy(np, *(x + sign * STEP * direction if i == position else x for i, x in enumerate(inputs)))
            for sign in (1, -1)
        )
        change = np.sum(weights(result, seed) * (ahead - behind)) / (2 * STEP)
        np.testing.assert_allclose(np.sum(gradient * direction), change, rtol=1e-5, atol=1e-5)
