"""The rules: for each operation how to compute it, what to save, and how a gradient goes back through it.

A rule has a *vector-Jacobian product* for each input: given the gradient of the result and what was saved, the gradient of
that input. Products are written as if nothing were ever broadcast; the walk sums back. They work on arrays, know no tensors
and no graph, and change none of their arguments. What is saved is one of few things, so that one sees it in the table:
`inputs`, the `output`, `both`, only the `shapes`, or `nothing`. With the last two a graph can be walked again at any time.

Where a function has no derivative, a choice is made, and it is PyTorch's: `relu` and `abs` have 0 at 0; where two are the
`maximum`, each gets a half; where several are the `amax`, they share equally.

The table is spread over three modules and put together in `RULES`. An operation of your own is one more `Rule`, given to
`apply` (see `tensors`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

Save = Callable[..., tuple[Any, ...]]
Vjp = Callable[..., Any]


def nothing(_output: Any, *_inputs: Any) -> tuple[Any, ...]:
    """Save nothing: the product needs the gradient only."""
    return ()


def shapes(_output: Any, *inputs: Any) -> tuple[Any, ...]:
    """Save the shapes of the inputs."""
    return tuple(one.shape for one in inputs)


def inputs(_output: Any, *inputs: Any) -> tuple[Any, ...]:
    """Save the inputs."""
    return inputs


def output(output: Any, *_inputs: Any) -> tuple[Any, ...]:
    """Save the result."""
    return (output,)


def both(output: Any, *inputs: Any) -> tuple[Any, ...]:
    """Save the result, then the inputs."""
    return (output, *inputs)


@dataclass(frozen=True, slots=True)
class Rule:
    """One operation. `vjps` has a product for each input, or is one for all, which is told the input's position first."""

    name: str
    forward: Callable[..., Any]
    save: Save
    vjps: tuple[Vjp, ...] | Vjp
    saves_values: bool = field(init=False)
    """Whether it keeps arrays alive, which a walk then frees."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "saves_values", self.save not in (nothing, shapes))

    def vjp(self, position: int) -> Vjp:
        """The product for one input."""
        return self.vjps[position] if isinstance(self.vjps, tuple) else partial(self.vjps, position)
