"""Losses, made of the other operations: they need no rules of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from farref.impl.tape.functions import log_softmax
from farref.impl.tape.tensors import Tensor


def mse_loss(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of squared differences. Shapes must agree, as broadcasting here is nearly always a mistake."""
    if prediction.shape != target.shape:
        raise ValueError(f"mse_loss: a prediction of shape {prediction.shape} for a target of shape {target.shape}")
    difference = prediction - target
    return (difference * difference).mean()


def cross_entropy(logits: Tensor, target: Tensor | npt.ArrayLike) -> Tensor:
    """The mean of -log softmax(logits) at the target: a class for each row."""
    classes = target.data if isinstance(target, Tensor) else np.asarray(target)
    if logits.ndim != 2 or classes.shape != logits.shape[:1]:
        raise ValueError(
            f"cross_entropy: logits of shape {logits.shape} for {classes.shape} targets; want (n, classes), (n,)"
        )
    if classes.dtype.kind not in "iu" or ((classes < 0) | (classes >= logits.shape[1])).any():
        raise ValueError(f"cross_entropy: a target is an integer from 0 to {logits.shape[1] - 1}")
    return -log_softmax(logits, 1)[np.arange(len(classes)), classes].mean()
