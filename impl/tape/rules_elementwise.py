"""Rules for what is done to each element by itself: arithmetic and the usual functions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from farref.impl.tape.rules import Rule, both, inputs, nothing, output

Array = npt.NDArray[Any]


def _same(g: Array) -> Array:
    return g


def _power(g: Array, x: Array, exponent: float) -> Array:
    """A constant has derivative 0 everywhere, also where x ** -1 is infinite."""
    return g * exponent * x ** (exponent - 1) if exponent else np.zeros_like(g)


def _share(g: Array, mine: Array, other: Array, result: Array) -> Array:
    """The gradient where mine was chosen, half of it where both were."""
    return np.asarray(g * ((mine == result) / (1.0 + (mine == other))), dtype=g.dtype)


def _sigmoid(x: Array) -> Array:
    """The exponential is taken of nothing positive, so it never overflows and small results keep their digits."""
    e = np.exp(-np.abs(x))
    result: Array = np.where(x >= 0, 1, e) / (1 + e)
    return result


ARITHMETIC: Final = (
    Rule("add", np.add, nothing, (_same, _same)),
    Rule("sub", np.subtract, nothing, (_same, np.negative)),
    Rule("mul", np.multiply, inputs, (lambda g, a, b: g * b, lambda g, a, b: g * a)),
    Rule("div", np.divide, inputs, (lambda g, a, b: g / b, lambda g, a, b: -g * a / (b * b))),
    Rule("neg", np.negative, nothing, (np.negative,)),
    Rule("pow", lambda x, exponent: x**exponent, inputs, (_power,)),
    Rule("abs", np.abs, inputs, (lambda g, x: g * np.sign(x),)),
    Rule("maximum", np.maximum, both, (lambda g, y, a, b: _share(g, a, b, y), lambda g, y, a, b: _share(g, b, a, y))),
    Rule("minimum", np.minimum, both, (lambda g, y, a, b: _share(g, a, b, y), lambda g, y, a, b: _share(g, b, a, y))),
    Rule(
        "where",
        np.where,
        inputs,
        (lambda g, c, a, b: None, lambda g, c, a, b: np.where(c, g, 0), lambda g, c, a, b: np.where(c, 0, g)),
    ),
)

FUNCTIONS: Final = (
    Rule("exp", np.exp, output, (lambda g, y: g * y,)),
    Rule("log", np.log, inputs, (lambda g, x: g / x,)),
    Rule("sqrt", np.sqrt, output, (lambda g, y: g / (2 * y),)),
    Rule("sin", np.sin, inputs, (lambda g, x: g * np.cos(x),)),
    Rule("cos", np.cos, inputs, (lambda g, x: -g * np.sin(x),)),
    Rule("tanh", np.tanh, output, (lambda g, y: g * (1 - y * y),)),
    Rule("sigmoid", _sigmoid, output, (lambda g, y: g * y * (1 - y),)),
    Rule("relu", lambda x: np.maximum(x, 0), output, (lambda g, y: g * (y > 0),)),
)
