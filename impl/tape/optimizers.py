"""Optimizers: how a parameter moves, given its gradient. The arguments, defaults and formulas are PyTorch's.

A step gives a parameter a new array and leaves the old one as it was: a graph recorded before the step keeps the values it
saw, and somebody who computes on another thread sees the old value or the new one, never a mixture.

`step` takes gradients from `.grad`, or from a mapping, as a pass over several processes has them. A parameter without a
gradient is skipped: it does not move, not even by weight decay or momentum, and its state does not age.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from farref.impl.tape.graph import Array
from farref.impl.tape.tensors import Tensor

State = dict[str, Any]


class Optimizer(ABC):
    """What all optimizers share: their parameters, and the state of each."""

    def __init__(self, params: Iterable[Tensor], lr: float, weight_decay: float, **more: float) -> None:
        self.params = list(params)
        self.lr = lr
        self.weight_decay = weight_decay
        for name, value in {"learning rate": lr, "weight_decay value": weight_decay, **more}.items():
            if not value >= 0:
                raise ValueError(f"Invalid {name}: {value}")
        for position, parameter in enumerate(self.params):
            if not isinstance(parameter, Tensor):
                raise TypeError(f"parameter {position} is no tensor, but {type(parameter).__qualname__}")
        if not all(parameter.is_leaf for parameter in self.params):
            raise ValueError("can't optimize a non-leaf Tensor")
        self.state: dict[Tensor, State] = {parameter: {} for parameter in self.params}
        if len(self.state) != len(self.params):
            raise ValueError("a parameter is given twice")

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.params:
            parameter.grad = None

    def step(self, gradients: Mapping[Tensor, Array] | None = None) -> None:
        """Move each parameter that has a gradient."""
        for parameter in self.params:
            own = None if parameter.grad is None else parameter.grad.data
            gradient = own if gradients is None else gradients.get(parameter)
            if gradient is not None:
                state = self.state[parameter]
                state["step"] = state.get("step", 0) + 1
                parameter.data = self.moved(parameter.data, gradient, state)

    @abstractmethod
    def moved(self, value: Array, gradient: Array, state: State) -> Array:
        """Compute where a parameter goes, and bring its state up to date."""

    def _decayed(self, value: Array, gradient: Array) -> Array:
        return gradient + self.weight_decay * value if self.weight_decay else gradient


class SGD(Optimizer):
    """Go down the gradient, with momentum if wanted."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(params, lr, weight_decay, **{"momentum value": momentum})
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        self.momentum, self.dampening, self.nesterov = momentum, dampening, nesterov

    def moved(self, value: Array, gradient: Array, state: State) -> Array:
        """The first step puts the gradient into the buffer undampened."""
        gradient = self._decayed(value, gradient)
        if self.momentum:
            buffer = state.get("momentum_buffer")
            buffer = gradient if buffer is None else self.momentum * buffer + (1 - self.dampening) * gradient
            state["momentum_buffer"] = buffer
            gradient = gradient + self.momentum * buffer if self.nesterov else buffer
        return value - self.lr * gradient


class Adagrad(Optimizer):
    """Divide by the root of the sum of all squared gradients so far."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
    ) -> None:
        limits = {"lr_decay value": lr_decay, "initial_accumulator_value value": initial_accumulator_value}
        super().__init__(params, lr, weight_decay, **limits, **{"epsilon value": eps})
        self.lr_decay, self.initial_accumulator_value, self.eps = lr_decay, initial_accumulator_value, eps

    def moved(self, value: Array, gradient: Array, state: State) -> Array:
        """The sum starts at a value that may be chosen."""
        gradient = self._decayed(value, gradient)
        total: Array = state.get("sum", self.initial_accumulator_value) + gradient * gradient
        state["sum"] = total
        lr: float = self.lr / (1 + (state["step"] - 1) * self.lr_decay)
        return value - lr * (gradient / (np.sqrt(total) + self.eps))


class RMSprop(Optimizer):
    """Divide by the root of a moving average of squared gradients; centered, by their standard deviation."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
    ) -> None:
        limits = {"alpha value": alpha, "epsilon value": eps, "momentum value": momentum}
        super().__init__(params, lr, weight_decay, **limits)
        self.alpha, self.eps, self.momentum, self.centered = alpha, eps, momentum, centered

    def moved(self, value: Array, gradient: Array, state: State) -> Array:
        """Averages start at 0 and are not corrected for that."""
        gradient = self._decayed(value, gradient)
        square = _average(state, "square_avg", self.alpha, gradient * gradient)
        if self.centered:
            square = square - _average(state, "grad_avg", self.alpha, gradient) ** 2
        move = gradient / (np.sqrt(square) + self.eps)
        if self.momentum:
            move = state["momentum_buffer"] = self.momentum * state.get("momentum_buffer", 0) + move
        return value - self.lr * move


class Adam(Optimizer):
    """Moving averages of the gradient and of its square, both corrected for their start at 0."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(params, lr, weight_decay, **{"epsilon value": eps})
        for index, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        self.betas, self.eps, self.amsgrad = betas, eps, amsgrad

    def moved(self, value: Array, gradient: Array, state: State) -> Array:
        """Weight decay is part of the gradient."""
        return self._descended(value, self._decayed(value, gradient), state)

    def _descended(self, value: Array, gradient: Array, state: State) -> Array:
        first, second = self.betas
        mean = _average(state, "exp_avg", first, gradient)
        square = _average(state, "exp_avg_sq", second, gradient * gradient)
        if self.amsgrad:
            square = state["max_exp_avg_sq"] = np.maximum(state.get("max_exp_avg_sq", 0), square)
        root: Array = np.sqrt(square) / (1 - second ** state["step"]) ** 0.5
        lr: float = self.lr / (1 - first ** state["step"])
        return value - lr * (mean / (root + self.eps))


class AdamW(Adam):
    """Adam, but weight decay shrinks the parameter itself and does not go through the averages."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)

    def moved(self, value: Array, gradient: Array, state: State) -> Array:
        """First shrink, then go."""
        return self._descended(value * (1 - self.lr * self.weight_decay), gradient, state)


def _average(state: State, name: str, decay: float, new: Array) -> Array:
    """Bring a moving average, which starts at 0, up to date."""
    average: Array = decay * state.get(name, 0) + (1 - decay) * new
    state[name] = average
    return average
