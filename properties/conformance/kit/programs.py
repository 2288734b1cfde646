"""Gradient computations as data, and what their gradients are.

A program is a list of steps, taken by one worker in one autograd context. Everything has a name and is a scalar:

    {"leaf": "q", "on": "B", "value": 3}                                  a leaf that needs a gradient, on some worker
    {"let": "y", "on": "B", "operation": "mul", "args": ["p", "q"]}       call B, which has q; send it p
    {"let": "y", "on": "C", "through": ["B"], "operation": …, "args": …}  let B make that call
    {"let": "z", "operation": "mul", "args": ["y", 2]}                    no `on`: here, without a call
    {"remote": "r", "on": "B", "operation": …, "args": …}                 leave the result on B, as `remote()` does
    {"let": "y", "fetch": "r"}                                            fetch it from there
    {"optimize": ["p", "q"], "rate": 1}                                   plain SGD over the context's gradients

The same `optimize` again is a step of the same optimizer, which lives as long as its worker has a context open.

A result belongs to the worker that took the step. `"may_fail": true` says that the step may raise, and then the program goes
on. Arguments are names or numbers. A leaf on the worker that computes is used there; anything else is sent along.
`"parameter": true` makes a leaf of the class that the backend has for parameters. `"recording": false` takes a step with
recording off, as under `no_grad`: what it sends is not part of any pair. `"own": true` lets an optimizer be one of the
application's own class, and not one that the backend knows.

The oracle knows nothing of workers: it sums over all paths from the roots to a leaf. Values are whole numbers, or short
binary fractions, so that every order of summation gives the same bits.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Step: TypeAlias = Mapping[str, Any]

OPERATIONS: Final = {
    "add": "the sum of two",
    "mul": "the product of two",
    "first": "the first of two; the second is ignored",
    "fail": "raises a ValueError as it is computed",
    "trap": "its argument; its backward raises a ValueError, in which the word gradient occurs",
    "slow": "its first argument, after as many seconds as the second says",
    "late": "its first argument; its backward waits for as many seconds as the second says",
}
"""What steps compute."""


def leaf(name: str, on: str, value: float, **more: Any) -> Step:
    """A worker has a leaf."""
    return {"leaf": name, "on": on, "value": value, **more}


def call(name: str, on: str, operation: str, *args: str | float, **more: Any) -> Step:
    """Another worker computes something."""
    return {"let": name, "on": on, "operation": operation, "args": list(args), **more}


def here(name: str, operation: str, *args: str | float) -> Step:
    """The worker computes something itself."""
    return {"let": name, "operation": operation, "args": list(args)}


def remote(name: str, on: str, operation: str, *args: str | float, **more: Any) -> Step:
    """Another worker computes something and keeps it."""
    return {"remote": name, "on": on, "operation": operation, "args": list(args), **more}


def fetch(name: str, of: str) -> Step:
    """The worker fetches what another one keeps."""
    return {"let": name, "fetch": of}


def optimize(*names: str, rate: int = 1, **more: Any) -> Step:
    """The optimizer moves some leaves."""
    return {"optimize": list(names), "rate": rate, **more}


def gradients_of(steps: Sequence[Step], roots: Sequence[str]) -> dict[str, float]:
    """Give the gradient of the sum of some roots with respect to every leaf that they depend on."""
    values = _values(steps)
    by_name = {step["let"]: step for step in _resolved(steps) if "let" in step}
    found: dict[str, float] = {}
    arriving: list[tuple[str, float]] = [(root, 1) for root in roots]
    while arriving:
        name, gradient = arriving.pop()
        if name not in by_name:
            found[name] = found.get(name, 0) + gradient
            continue
        step = by_name[name]
        args = [values[one] if isinstance(one, str) else one for one in step["args"]]
        for argument, factor in zip(step["args"], _factors(step["operation"], args), strict=True):
            if isinstance(argument, str) and factor is not None:
                arriving.append((argument, gradient * factor))
    return found


def _resolved(steps: Sequence[Step]) -> list[Step]:
    """Take a fetch for another name of what is fetched."""
    remotes = {step["remote"]: step for step in steps if "remote" in step}
    resolved: list[Step] = []
    for step in steps:
        if "fetch" in step:
            origin = remotes[step["fetch"]]
            resolved.append({"let": step["let"], "operation": origin["operation"], "args": origin["args"]})
        else:
            resolved.append(step)
    return resolved


def _values(steps: Sequence[Step]) -> dict[str, float]:
    values: dict[str, float] = {}
    for step in _resolved(steps):
        if "leaf" in step:
            values[step["leaf"]] = step["value"]
        elif "let" in step and step["operation"] != "fail":
            args = [values[one] if isinstance(one, str) else one for one in step["args"]]
            values[step["let"]] = _compute(step["operation"], args)
    return values


def _compute(operation: str, args: Sequence[float]) -> float:
    match operation:
        case "add":
            return args[0] + args[1]
        case "mul":
            return args[0] * args[1]
        case _:
            return args[0]


def _factors(operation: str, args: Sequence[float]) -> tuple[float | None, ...]:
    """Give the derivative with respect to each argument; none where the argument does not matter at all."""
    match operation:
        case "add":
            return 1, 1
        case "mul":
            return args[1], args[0]
        case "first" | "slow" | "late":
            return 1, None
        case _:
            return tuple(1 for _ in args)


def draw(dice: random.Random, workers: Sequence[str], *, uses_all: bool) -> tuple[list[Step], str]:
    """Draw a program of the first worker, and the name of its root. If it uses all, every result leads to the root."""
    places = {f"p{number}": dice.choice(workers) for number in range(1, dice.randint(2, 4))} | {"p0": workers[0]}
    steps = [leaf(name, on, dice.randint(-3, 3)) for name, on in places.items()]
    operations = ("add", "mul") if uses_all else ("add", "mul", "first")
    results, loose = list[str](), list[str]()
    for number in range(dice.randint(3, 7)):
        on = dice.choice(workers)
        at_hand = [*results, *(one for one, place in places.items() if place in (on, workers[0]))]
        more = {"through": [dice.choice(workers)]} if dice.random() < 0.25 else {}
        args = [dice.choice(at_hand), dice.choice(at_hand)]
        steps.append(call(f"y{number}", on, dice.choice(operations), *args, **more))
        results.append(f"y{number}")
        loose = [*(one for one in loose if one not in args), f"y{number}"]
    return _rooted(steps, loose if uses_all else dice.sample(results, 2))


def _rooted(steps: list[Step], gathered: Sequence[str]) -> tuple[list[Step], str]:
    """Have some results added up to one root."""
    root = gathered[0]
    for one in gathered[1:]:
        steps.append(here(f"{root}+{one}", "add", root, one))
        root = f"{root}+{one}"
    return [*steps, here("root", "mul", root, 2)], "root"
