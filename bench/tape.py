"""Measure the tape against HIPS autograd on a network of three layers, in one run: `python bench/tape.py`.

Each row is the same network, loss and gradients, on the same numbers. In each round both compute them, one after the other,
in turns of who is first; a ratio is taken inside a round, where both had the same machine, and the table has the median over
the rounds: read the ratios, not the figures. What is measured is processor time, so that neighbours on the machine take less
part in it; with `OPENBLAS_NUM_THREADS=1` they take the least, as threads of numpy that wait for each other count too.

Small networks show what recording costs, large ones what the arithmetic costs.
autograd has no cross entropy; here it may leave out the shift that keeps the exponential in range, which the tape does not.

autograd is a development dependency: `pip install '.[dev]'`.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from farref.impl import tape

SIZES: Final = {"tiny": (8, (4, 16, 16, 3)), "small": (64, (32, 64, 64, 10)), "large": (256, (784, 256, 256, 10))}
"""For each row: how many examples, and the widths of the layers."""

SECONDS_MIN: Final = 0.05
"""A measurement repeats its job until it has taken this long."""

Job = Callable[[], list[Any]]


def network(rows: int, widths: tuple[int, ...]) -> tuple[list[Any], Any, Any]:
    """Draw weights, examples and classes."""
    random = np.random.default_rng(0)
    pairs = itertools.pairwise(widths)
    weights = [
        array
        for before, after in pairs
        for array in (random.normal(size=(before, after)) / before**0.5, np.zeros(after))
    ]
    return weights, random.normal(size=(rows, widths[0])), random.integers(widths[-1], size=rows)


def by_the_tape(weights: list[Any], examples: Any, classes: Any) -> Job:
    """The gradients of the loss by farref."""
    parameters = [tape.tensor(array, requires_grad=True) for array in weights]
    layer = tape.tensor(examples)

    def job() -> list[Any]:
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = tape.tanh(tape.tanh(layer @ w1 + b1) @ w2 + b2)
        loss = tape.cross_entropy(hidden @ w3 + b3, classes)
        for parameter in parameters:
            parameter.grad = None
        loss.backward()
        return [parameter.grad.data for parameter in parameters if parameter.grad is not None]

    return job


def by_autograd(weights: list[Any], examples: Any, classes: Any) -> Job:
    """The gradients of the loss by HIPS autograd."""
    import autograd
    import autograd.numpy as anp

    def loss(parameters: list[Any]) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = anp.tanh(anp.dot(anp.tanh(anp.dot(examples, w1) + b1), w2) + b2)
        logits = anp.dot(hidden, w3) + b3
        logarithms = logits - anp.log(anp.sum(anp.exp(logits), axis=1, keepdims=True))
        return -anp.mean(logarithms[anp.arange(len(classes)), classes])

    gradient = autograd.grad(loss)
    return lambda: list(gradient(weights))


def seconds(job: Job) -> float:
    """Measure the processor time of one run of a job, repeated until it can be measured."""
    times, start = 0, time.process_time()
    while time.process_time() - start < SECONDS_MIN:
        job()
        times += 1
    return (time.process_time() - start) / times


def measured(name: str, rounds: int) -> str:
    """Measure a row, after a check that both find the same gradients."""
    ours, theirs = (make(*network(*SIZES[name])) for make in (by_the_tape, by_autograd))
    for one, other in zip(ours(), theirs(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    figures = []
    for number in range(rounds):
        taken = {job: seconds(job) for job in ((ours, theirs) if number % 2 else (theirs, ours))}
        figures.append((taken[ours], taken[theirs]))
    own, others = (statistics.median(column) * 1e6 for column in zip(*figures, strict=True))
    ratio = statistics.median(them / us for us, them in figures)
    return f"{name:8} {own:12.0f} {others:12.0f} {ratio:8.2f}"


def main() -> None:
    """Print the table, row by row as it is measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="how often everything is measured (15)")
    parser.add_argument("sizes", nargs="*", metavar="size", help=f"which rows: {', '.join(SIZES)} (all)")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.sizes) - set(SIZES))
    if unknown or arguments.rounds < 1:
        parser.error(f"no such size: {', '.join(unknown)}" if unknown else "--rounds must be at least 1")
    try:
        import autograd  # noqa: F401
    except ImportError:
        sys.exit("autograd is not installed: pip install '.[dev]'")
    print(f"{'network':8} {'farref, us':>12} {'autograd, us':>12} {'times':>8}")
    for name in arguments.sizes or SIZES:
        print(measured(name, arguments.rounds), flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
